"""A validator for as much of JSON Schema as docs/openapi.yaml uses."""

import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"type", "properties", "required", "additionalProperties", "items", "enum", "pattern", "minimum", "maximum", "description",
         "format", "$ref", "exclusiveMinimum", "exclusiveMaximum", "default"}


def follow(spec, node):
    """What a node refers to."""
    while "$ref" in node:
        at = spec
        for step in node["$ref"].removeprefix("#/").split("/"):
            at = at[step]
        node = at
    return node


def is_a(name, value):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def breaks(spec, schema, value, where=""):
    """What of value is not as schema says."""
    schema = follow(spec, schema)
    unknown = set(schema) - KNOWN
    if unknown:
        return ["%s: the file uses %s, which is not checked" % (where, unknown)]
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    wrong = []
    if types and not any(is_a(t, value) for t in types):
        return ["%s: %r is no %s" % (where, value, types)]
    if "enum" in schema and value not in schema["enum"]:
        wrong.append("%s: %r is none of %s" % (where, value, schema["enum"]))
    if "pattern" in schema and not re.search(schema["pattern"], value):
        wrong.append("%s: %r does not fit %s" % (where, value, schema["pattern"]))
    if "minimum" in schema and value < schema["minimum"]:
        wrong.append("%s: %r is below %r" % (where, value, schema["minimum"]))
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        wrong += ["%s: %s is missing" % (where, k) for k in schema.get("required", []) if k not in value]
        wrong += ["%s: %s is not in the file" % (where, k) for k in value if k not in properties and schema.get("additionalProperties") is False]
        for k, v in value.items():
            if k in properties:
                wrong += breaks(spec, properties[k], v, where + "." + k)
    if isinstance(value, list) and "items" in schema:
        for i, v in enumerate(value):
            wrong += breaks(spec, schema["items"], v, "%s[%d]" % (where, i))
    return wrong
