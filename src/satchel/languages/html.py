"""HTML, and components written like it. A block with an id is a section of the page; scripts, styles
and the template of a component are pieces of their own."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="html",
    suffixes=(
        *(".html", ".htm", ".xhtml", ".vue", ".svelte"),
        *(".html.j2", ".html.jinja", ".html.jinja2", ".html.erb", ".html.heex", ".hbs", ".mustache", ".njk"),
    ),
    grammar="tree_sitter_html",
    module_kind=ChunkKind.SECTION,
    index_stems=("index",),
    query="""
(element (start_tag
  (tag_name) @_tag
  (attribute (attribute_name) @_attribute
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name])
  (#eq? @_attribute "id")
  (#match? @_tag "^(section|article|main|header|footer|nav|aside|div|form|table|template|dialog|fieldset)$")))
  @definition.section
(document (element (start_tag (tag_name) @name (#eq? @name "template"))) @definition.section)
(script_element (start_tag (tag_name) @name) (raw_text) @_code (#match? @_code "\\n.*\\n")) @definition.module
(style_element (start_tag (tag_name) @name) (raw_text) @_code (#match? @_code "\\n.*\\n")) @definition.module
(script_element (start_tag (attribute (attribute_name) @_attribute
  (quoted_attribute_value (attribute_value) @import)) (#eq? @_attribute "src")))
(element [
  (start_tag (tag_name) @_tag (attribute (attribute_name) @_attribute
    (quoted_attribute_value (attribute_value) @import)))
  (self_closing_tag (tag_name) @_tag (attribute (attribute_name) @_attribute
    (quoted_attribute_value (attribute_value) @import)))]
  (#eq? @_tag "link") (#eq? @_attribute "href"))
(comment) @comment
""",
)
