"""SQL. What a schema defines; the dialects differ most in procedures."""

from satchel.languages.language import Language

LANGUAGE = Language(
    name="sql",
    suffixes=(".sql", ".ddl", ".dml", ".psql", ".pgsql", ".plsql"),
    grammar="tree_sitter_sql",
    name_separators=(".",),
    line_comment="--",
    query="""
(create_table (object_reference) @name) @definition.struct
(create_view (object_reference) @name) @definition.struct
(create_materialized_view (object_reference) @name) @definition.struct
(create_function (object_reference) @name) @definition.function
(create_trigger (keyword_trigger) (object_reference) @name (keyword_on)) @definition.function
(create_index column: (identifier) @name (keyword_on)) @definition.const
(create_sequence (object_reference) @name) @definition.const
(create_type (object_reference) @name (enum_elements)) @definition.enum
(create_type (object_reference) @name (column_definitions)) @definition.struct
(create_table (column_definitions (column_definition (keyword_references)
  (object_reference name: (identifier) @reference.uses))))
(relation (object_reference name: (identifier) @reference.uses))
(alter_table (object_reference name: (identifier) @reference.uses))
(insert (object_reference name: (identifier) @reference.uses))
(invocation (object_reference name: (identifier) @reference.calls))
(create_trigger (keyword_execute) (object_reference name: (identifier) @reference.calls))
(comment) @comment
(marginalia) @comment
""",
)
