"""The rows of mechanisms.def and params.def, for tools; at the top of the tree."""

import pathlib
import re
from types import SimpleNamespace as Row

MECHANISMS = pathlib.Path("src/lib/mech/mechanisms.def")
PARAMETERS = pathlib.Path("src/lib/scheme/params.def")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(),]|[^"(),]+')


def calls(text, macros):
    """Each use of one of the macros in a .def file, its arguments as they stand."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for start in re.finditer(rf"^(?:{macros})\(", text, re.M):
        args, depth = [""], 1
        for token in TOKEN.finditer(text, start.end()):
            depth += (token[0] == "(") - (token[0] == ")")
            if depth == 0:
                break
            if token[0] == "," and depth == 1:
                args.append("")
            else:
                args[-1] += token[0]
        yield [" ".join(a.split()) for a in args]


def text_of(arg):
    """A string literal, or several, as text."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', arg))


def mechanisms():
    rows = []
    for symbol, number, name, aliases, title, kinds, analysis, params, _designs, tables, _parts, page in \
            calls(MECHANISMS.read_text(), "(?:SMALL_)?MECHANISM"):
        page, report, use = (text_of(a) for a in next(calls(page, "PAGE")))
        rows.append(Row(symbol=symbol, id=int(number), name=text_of(name), aliases=[a for a in text_of(aliases).split(",") if a],
                        title=text_of(title), kinds=re.findall(r"KIND\((\w+)\)", kinds), analysis=analysis,
                        params=re.findall(r"PARAM\((\w+)\)", params), release=tables.startswith("RELEASE"),
                        page=page, report=report, use=use))
    return rows


def parameters():
    return [Row(symbol=symbol, name=text_of(name), place=int(place), text=text_of(text))
            for symbol, name, place, text in calls(PARAMETERS.read_text(), "PARAMETER")]
