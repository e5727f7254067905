#!/usr/bin/python3 -B
"""Examples and numbers of pages that no other test goes through."""

from e2e import *


def page(name):
    return open(os.path.join(ROOT, "docs", name)).read()


# The commands of audit.md, with fewer samples: what they find is audit.t's business.
commands = re.findall(r"^    (hearsay audit .*)$", page("audit.md"), re.M)
ok(len(commands) == 3, "audit.md shows three audits", commands)
for command in commands if not SHORT else ():
    words = re.sub(r" --samples \d+", "", command).split()[1:]
    r = run(*words, "--samples", "1000", "--seed", "1")
    ok(r.code == 0 and r.out != b"", command, r)

text = page("mechanisms/matrix.md")
command = re.search(r"^    hearsay (randomize .*)$", text, re.M).group(1)
square = "".join(line + "\n" for line in re.findall(r"^    ([\d.]+,[\d.]+,[\d.]+)$", text, re.M))
words = [word.replace("H.csv", write("H.csv", square)) for word in command.split()]
r = run(*words, "--simulate", "--seed", "1", stdin=lines("abc" * 500))
ok(r.code == 0 and run("estimate", stdin=r.out).code == 0, "matrix.md: " + command, r)

# choosing-epsilon.md: what the table says follows from epsilon.
rows_ = re.findall(r"^\| (?:ln 3 = )?([\d.]+) \| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) % \| [a-z ]*([\d.]+) %", page("choosing-epsilon.md"), re.M)
ok(len(rows_) == 7, "choosing-epsilon.md has seven landmarks", rows_)
for epsilon, odds, half, rare, truth in rows_:
    e = math.log(3) if epsilon == "1.1" else float(epsilon)
    E = math.exp(e)
    for said, exact in ((odds, E), (half, 100 * E / (1 + E)), (rare, E / (0.01 * E + 0.99)), (truth, 100 * math.tanh(e / 2))):
        digits = len(said.partition(".")[2])
        ok(abs(float(said) - exact) <= 0.5 * 10 ** -digits, "epsilon %s: %s" % (epsilon, said), exact)
done()
