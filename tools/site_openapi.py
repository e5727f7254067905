"""site_openapi.py - an OpenAPI file as a page of tables."""

import yaml


def _cell(text):
    """In a table: a bar ends a cell, but for one between backquotes."""
    parts = " ".join(str(text).split()).split("`")
    parts[::2] = [part.replace("|", "\\|").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def _anchor(name):
    return "schema-" + name.lower()


def _limits(schema):
    said = {"minimum": "from {}", "maximum": "to {}", "minLength": "at least {} letters", "maxLength": "at most {} letters",
            "maxItems": "at most {}", "pattern": "`{}`", "default": "default {}"}
    return [form.format(repr(schema[key])[1:-1] if key == "pattern" else schema[key]) for key, form in said.items() if key in schema]


def kind(schema):
    """The type of a value in a few words, Markdown."""
    if schema is True or not schema:
        return "anything"
    if "$ref" in schema:
        file, _, at = schema["$ref"].partition("#")
        name = at.rpartition("/")[2]
        return "[%s](%s#%s)" % (name, file.replace(".yaml", ".md"), _anchor(name))
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return (" and " if several == "allOf" else " or ").join(kind(s) for s in schema[several])
    if "const" in schema:
        return "`%s`" % schema["const"]
    if "enum" in schema:
        return " or ".join("`%s`" % repr(v).strip("'") for v in schema["enum"])
    types = schema.get("type", "object" if "properties" in schema else "anything")
    words = " or ".join(types) if isinstance(types, list) else types
    if "items" in schema:
        words = words.replace("array", "list of " + kind(schema["items"]))
    if isinstance(schema.get("additionalProperties"), dict):
        words += " of " + kind(schema["additionalProperties"])
    more = _limits(schema)
    return words + (" (%s)" % ", ".join(more) if more else "")


def members(schema, before=""):
    """Rows of an object's members, those of objects in it too."""
    for name, of in (schema.get("properties") or {}).items():
        need = "yes" if name in schema.get("required", []) else ""
        of = {} if of is True else of
        yield "| `%s%s` | %s | %s | %s |" % (before, name, _cell(kind(of)), need, _cell(of.get("description", "")))
        inner = of.get("items", of)
        if isinstance(inner, dict) and "properties" in inner:
            yield from members(inner, before + name + ("[]." if "items" in of else "."))


def _bodies(content):
    return "; ".join("`%s`: %s%s" % (media, _cell(kind(of.get("schema", {}))), _note(of.get("schema", {}))) for media, of in (content or {}).items())


def _note(schema):
    return ", " + _cell(schema["description"]) if isinstance(schema, dict) and "description" in schema else ""


def _moved(thing, file):
    """A part of another file: what it refers to is there."""
    if isinstance(thing, list):
        return [_moved(t, file) for t in thing]
    if not isinstance(thing, dict):
        return thing
    return {k: file + v if k == "$ref" and v.startswith("#") else _moved(v, file) for k, v in thing.items()}


def _resolve(api, thing):
    while "$ref" in thing:
        file, _, path = thing["$ref"].partition("#/")
        at = api["load"](file) if file else api
        for part in path.split("/"):
            at = at[part]
        thing = _moved(at, file)
    return thing


def _operation(api, method, path, op, shared):
    yield "## `%s %s`" % (method.upper(), path)
    yield "%s." % op["summary"].rstrip(".")
    if "description" in op:
        yield op["description"].strip()
    if "x-role" in op:
        role = op["x-role"]
        yield "Who may: %s." % (", ".join("%s (%s)" % (who, listener) for listener, who in role.items()) if isinstance(role, dict) else role)
    parameters = [_resolve(api, p) for p in shared + op.get("parameters", [])]
    if parameters:
        yield "\n".join(["| parameter | in | needed | type | |", "|---|---|---|---|---|"] + [
            "| `%s` | %s | %s | %s | %s |" % (p["name"], p["in"], "yes" if p.get("required") else "", _cell(kind(p.get("schema", {}))), _cell(p.get("description", "")))
            for p in parameters])
    if "requestBody" in op:
        yield "Body: %s" % _bodies(_resolve(api, op["requestBody"]).get("content"))
    rows = ["| status | means | body |", "|---|---|---|"]
    for status, answer in op.get("responses", {}).items():
        answer = _resolve(api, answer)
        rows.append("| %s | %s | %s |" % (status, _cell(answer.get("description", "")), _bodies(answer.get("content"))))
    yield "\n".join(rows)


def page(text, source, read):
    """The page of an OpenAPI file called source; read: the text of another."""
    api = yaml.safe_load(text)
    api["load"] = lambda name: yaml.safe_load(read(name))
    out = ["# " + api["info"]["title"], api["info"].get("description", "").strip(), "The same for programs: [%s](%s), OpenAPI %s." % (source, source, api["openapi"])]
    for path, item in api["paths"].items():
        for method, op in item.items():
            if method in ("get", "put", "post", "delete", "head", "options", "patch"):
                out += _operation(api, method, path, op, item.get("parameters", []))
    components = api.get("components", {})
    if components.get("securitySchemes"):
        out.append("## Tokens")
        out += ["- **%s**: %s" % (name, s.get("description", s.get("scheme", ""))) for name, s in components["securitySchemes"].items()]
    if components.get("schemas"):
        out.append("## Schemas")
    for name, schema in components.get("schemas", {}).items():
        out.append("### %s {: #%s }" % (name, _anchor(name)))
        if "description" in schema:
            out.append(schema["description"].strip())
        rows = list(members(schema.get("items", schema) if schema.get("type") == "array" else schema))
        out.append("\n".join(["| member | type | always | |", "|---|---|---|---|"] + rows) if rows else "Is: " + kind(schema))
    return "\n\n".join(part for part in out if part) + "\n"
