# SPDX-License-Identifier: MIT
"""check_attention.py - is what spec_forward computes attention at all?

Takes the inputs and results of a few harmless golden cases from `spec_forward --dump`, computes
softmax(scale q.k) v again in the plainest float64 (math.exp, math.fsum) and compares loosely. The
exact bits are not its business; that the formula, the heads, the mask and the offsets are right is.

    check_attention.py SPEC_FORWARD CASES.INC        TAP
"""
import math
import re
import struct
import subprocess
import sys

WANTED = """f32_one_key f32_two_keys f32_d5 f32_d129 f32_dv300 f32_row1_decode f32_grouped12_4
f32_batch3_causal f32_keys4097 f32_causal_tall_right f32_causal_minus1 f32_causal_scaled
f32_scale0 f32_scale_negative f32_sharp_causal f32_equal f32_half f32_poison f64_one f64_d17
f64_grouped_batch f64_keys1000 f64_causal_tall f64_grid_ln2 f64_sharp f64_half f64_spans3_causal""".split()


def read_cases(path):
    cases = {}
    for line in open(path, encoding="ascii"):
        if line.startswith("CASE("):
            fields = [x.strip() for x in line.strip()[5:-1].split(",")]
            cases[fields[0]] = fields
    return cases


def read_dump(program, name, bits):
    text = subprocess.run([program, "--dump", name, "q,k,v,out,lse,weight"], check=True, capture_output=True, text=True)
    form = (">f", 4) if bits == 32 else (">d", 8)
    data = {what: [] for what in ("q", "k", "v", "out", "lse", "weight")}
    for line in text.stdout.splitlines():
        what, number = line.split()
        data[what].append(struct.unpack(form[0], bytes.fromhex(number))[0])
    return data


def number(text):
    if text == "LN2":
        return math.log(2.0)
    return float.fromhex(text) if "0x" in text else float(text)


def worst_error(fields, data):
    """The largest error of a row of out, relative to its largest value, of lse and of a weight."""
    batch, heads, kv_heads, rows, keys, d, d_v = (int(x) for x in fields[2:9])
    use, offset = fields[9], int(fields[10], 0)
    scale = number(fields[11]) if use in ("SCALE", "BOTH") else 1 / math.sqrt(d)
    worst = 0.0
    for n in range(batch * heads * rows):
        i, head, b = n % rows, n // rows % heads, n // rows // heads
        plane = (b * kv_heads + head // (heads // kv_heads)) * keys
        live = keys if use in ("FULL", "SCALE") else max(0, min(keys, i + offset + 1))
        q = data["q"][n * d:(n + 1) * d]
        score = [scale * math.fsum(x * y for x, y in zip(q, data["k"][j * d:(j + 1) * d]))
                 for j in range(plane, plane + live)]
        top = max(score, default=0.0)
        e = [math.exp(s - top) for s in score]
        total = math.fsum(e)
        lse = top + math.log(total) if live else -math.inf
        weight = [x / total for x in e] + [0.0] * (keys - live)
        out = [math.fsum(weight[j] * data["v"][(plane + j) * d_v + c] for j in range(live))
               for c in range(d_v)]
        size = max((abs(x) for x in out), default=0.0) or 1.0
        pairs = [(x / size, y / size) for x, y in zip(out, data["out"][n * d_v:])]
        pairs += list(zip(weight, data["weight"][n * keys:(n + 1) * keys]))
        if lse != data["lse"][n]:
            pairs.append((lse / max(1.0, abs(lse)), data["lse"][n] / max(1.0, abs(lse))))
        for x, y in pairs:
            worst = max(worst, abs(x - y) if math.isfinite(y) else math.inf)
    return worst


def main():
    program, table = sys.argv[1:]
    cases = read_cases(table)
    print(f"1..{len(WANTED)}")
    failed = 0
    for i, name in enumerate(WANTED, 1):
        bits = int(cases[name][1])
        bound = 2e-5 if bits == 32 else 1e-13
        error = worst_error(cases[name], read_dump(program, name, bits))
        word = "ok" if error <= bound else "not ok"
        failed += word != "ok"
        print(f"{word} {i} - {name} is attention (error {error:.1e}, bound {bound:.0e})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
