"""Rust."""

from satchel.languages.language import GraphRules, ImportBinds, Language

# Assertions hold most calls of a test, and a macro's arguments are bare tokens (`@tokens`). `Type::function`
# uses the type as well.
LANGUAGE = Language(
    name="rust",
    suffixes=(".rs",),
    interpreters=("rust-script",),
    grammar="tree_sitter_rust",
    line_comment="//",
    name_separators=("::",),
    import_separator="::",
    index_stems=("mod", "lib", "main"),
    graph=GraphRules(
        modules="rust",
        import_binds=ImportBinds.LAST_PART,
        self_names=("self", "Self"),
        class_scope_is_visible=False,
        wrappers=(
            "Option",
            "Result",
            "Box",
            "Arc",
            "Rc",
            "Mutex",
            "RwLock",
            "RefCell",
            "Cell",
            "Cow",
            "Pin",
            "Ref",
            "RefMut",
            "MutexGuard",
            "OnceLock",
            "OnceCell",
            "LazyLock",
            "Lazy",
        ),
        containers=(
            "Vec",
            "VecDeque",
            "HashMap",
            "BTreeMap",
            "HashSet",
            "BTreeSet",
            "Iterator",
            "IntoIterator",
            "Peekable",
        ),
        type_prefixes=("mut ", "dyn ", "impl ", "const "),
        call_marks="(!",
        modules_are_scopes=True,
        own_module="self",
        parent_module="super",
        fields_apart=True,
        names_start_at_declaration=True,
        rebinds=True,
        wrapping_calls=(
            "Some",
            "Ok",
            "Box::new",
            "Arc::new",
            "Rc::new",
            "Mutex::new",
            "RwLock::new",
            "RefCell::new",
            "Cell::new",
            "Arc::clone",
            "Rc::clone",
        ),
        token_bindings=(
            r"\blet\s+(?:mut\s+)?(?P<name>[a-z_]\w*)\s*(?::\s*(?P<type>[^=;]+?)\s*)?=\s*(?P<value>[^;]*);",
            r"\|\s*(?:mut\s+)?(?P<name>[a-z_]\w*)\s*(?::\s*(?P<type>[^|,\n]+))?[|,]",
            r"\|[^|,\n]+,\s*(?:mut\s+)?(?P<name>[a-z_]\w*)\s*(?::\s*(?P<type>[^|,\n]+))?[|,]",
        ),
        transparent_members=frozenset(
            {
                "unwrap",
                "expect",
                "clone",
                "as_ref",
                "as_mut",
                "as_deref",
                "as_deref_mut",
                "borrow",
                "borrow_mut",
                "lock",
                "iter",
                "iter_mut",
                "into_iter",
                "to_owned",
                "unwrap_or_default",
                "unwrap_or_else",
                "unwrap_or",
                "cloned",
                "ok",
                "map_err",
                "ok_or_else",
                "ok_or",
            }
        ),
        ignored=frozenset(
            {
                "std",
                "core",
                "alloc",
                "Some",
                "None",
                "Ok",
                "Err",
                "Option",
                "Result",
                "Vec",
                "String",
                "Box",
                "Default",
                "Clone",
                "Copy",
                "Debug",
                "Send",
                "Sync",
                "Iterator",
                "From",
                "Into",
                "AsRef",
                "Drop",
                "Fn",
                "FnMut",
                "FnOnce",
                "derive",
                "cfg",
                "test",
                "inline",
                "allow",
                "_",
                "format!",
                "print!",
                "println!",
                "eprint!",
                "eprintln!",
                "write!",
                "writeln!",
                "vec!",
                "panic!",
                "todo!",
                "unimplemented!",
                "unreachable!",
                "assert!",
                "assert_eq!",
                "assert_ne!",
                "debug_assert!",
                "debug_assert_eq!",
                "debug_assert_ne!",
                "matches!",
                "dbg!",
                "include_str!",
                "include_bytes!",
                "include!",
                "concat!",
                "env!",
                "option_env!",
                "line!",
                "file!",
                "stringify!",
                "cfg!",
                "compile_error!",
                "thread_local!",
                "macro_rules!",
                "format_args!",
            }
        ),
    ),
    query="""
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(macro_definition name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(mod_item name: (identifier) @name body: (_)) @definition.module
(impl_item type: [
  (type_identifier) @name
  (scoped_type_identifier name: (type_identifier) @name)
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (reference_type) @name (tuple_type) @name (array_type) @name (primitive_type) @name
  (dynamic_type) @name (pointer_type) @name (function_type) @name (unit_type) @name]) @container.impl
(source_file [(const_item name: (identifier) @name) (static_item name: (identifier) @name)
  (type_item name: (type_identifier) @name)] @definition.const)
(declaration_list [(const_item name: (identifier) @name) (static_item name: (identifier) @name)]
  @definition.const)
(mod_item body: (declaration_list (type_item name: (type_identifier) @name) @definition.const))
(attribute_item) @leading
[(line_comment) (block_comment)] @comment

(impl_item trait: [(type_identifier) @base (scoped_type_identifier) @base (generic_type type: (_) @base)])
(trait_item bounds: (trait_bounds
  [(type_identifier) @base (scoped_type_identifier) @base (generic_type type: (_) @base)]))
[(identifier) (type_identifier)] @use
[(scoped_identifier) (scoped_type_identifier) (field_expression)] @member
(macro_invocation (token_tree) @tokens)
[(attribute_item) (inner_attribute_item) (lifetime)] @opaque
[(block) (match_arm) (closure_expression)] @scope
(parameter pattern: (identifier) @bind type: (_) @bind.type)
(let_declaration pattern: (identifier) @bind type: (_) @bind.type)
(let_declaration pattern: (identifier) @bind !type value: (_) @bind.value)
(let_declaration pattern: (identifier) @bind !type !value)
(for_expression pattern: (identifier) @bind value: (_) @bind.element)
(let_condition
  pattern: (tuple_struct_pattern type: (identifier) @_wrapper . (identifier) @bind) value: (_) @bind.value
  (#any-of? @_wrapper "Some" "Ok"))
(let_declaration
  pattern: (tuple_struct_pattern type: (identifier) @_wrapper . (identifier) @bind) value: (_) @bind.value
  (#any-of? @_wrapper "Some" "Ok"))
(match_expression value: (_) @bind.value
  body: (match_block (match_arm pattern: (match_pattern
    (tuple_struct_pattern type: (identifier) @_wrapper . (identifier) @bind))))
  (#any-of? @_wrapper "Some" "Ok"))
(closure_parameters (identifier) @bind)
([(match_pattern (identifier) @bind) (tuple_struct_pattern type: (_) (identifier) @bind)
  (tuple_pattern (identifier) @bind) (slice_pattern (identifier) @bind) (ref_pattern (identifier) @bind)
  (mut_pattern (identifier) @bind) (reference_pattern (identifier) @bind)
  (captured_pattern . (identifier) @bind) (or_pattern (identifier) @bind)
  (field_pattern name: (shorthand_field_identifier) @bind)
  (field_pattern pattern: (identifier) @bind)]
  (#match? @bind "^[a-z_]"))
(type_parameter name: (type_identifier) @generic !bounds)
(type_parameter name: (type_identifier) @generic bounds: (trait_bounds) @generic.bound)
(field_declaration name: (field_identifier) @bind.attribute type: (_) @bind.type)
(type_item name: (type_identifier) @bind type: (_) @bind.type)
[(const_item name: (identifier) @bind type: (_) @bind.type)
 (static_item name: (identifier) @bind type: (_) @bind.type)]
(function_item return_type: (_) @returns)
(function_signature_item return_type: (_) @returns)
(use_declaration argument: (_) @import.tree)
(extern_crate_declaration name: (identifier) @import.module alias: (identifier) @import.alias)
(extern_crate_declaration name: (identifier) @import.module !alias)
(mod_item name: (identifier) @import.name !body)
((attribute_item (attribute (identifier) @_macros)) . (attribute_item)* .
  (mod_item name: (identifier) @import.module !body)
  (#eq? @_macros "macro_use"))
""",
)
