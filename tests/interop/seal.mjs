// The other side of tests/vectors/test_seal_interop.c: a line asks, a line
// answers. Words are numbers, or bytes as hexadecimal digits and - for none.
import {createInterface} from "node:readline";
import {libraries} from "./hpke.mjs";
import {ask, readConfig, serve} from "./ohttp.mjs";

const bytes = word => new Uint8Array(Buffer.from(word === "-" ? "" : word, "hex"));
const words = (...all) => all.map(b => b.length === 0 ? "-" : Buffer.from(b).toString("hex")).join(" ");
const LABEL = new TextEncoder().encode("hearsay seal 2");
let asked;

const answers = {
    async seal(library, aead, pub, info, aad, text) {
        const c = await library.sender(Number(aead), bytes(pub), bytes(info));
        return words(c.enc, await c.seal(bytes(text), bytes(aad)));
    },
    async open(library, aead, secret, pub, enc, info, aad, sealed) {
        const c = await library.receiver(Number(aead), bytes(secret), bytes(pub), bytes(enc), bytes(info));
        return words(await c.open(bytes(sealed), bytes(aad)));
    },
    async ask(library, config, bhttp) {
        asked = await ask(library, readConfig(bytes(config)), bytes(bhttp));
        return words(asked.request);
    },
    async answered(library, response) {
        return words(await asked.open(bytes(response)));
    },
    async serve(library, secret, pub, request, response) {
        const g = await serve(library, {secret: bytes(secret), pub: bytes(pub)}, bytes(request));
        return words(g.bhttp, await g.seal(bytes(response)));
    },
    // One layer of an envelope, as docs/formats.md has it.
    async peel(library, layer, layers, secret, pub, aad, envelope) {
        const e = bytes(envelope), id = e.subarray(0, 4);
        const info = Buffer.concat([LABEL, Uint8Array.of(layer, layers), id]);
        const c = await library.receiver(3, bytes(secret), bytes(pub), e.subarray(4, 36), new Uint8Array(info));
        return words(await c.open(e.subarray(36), bytes(aad)));
    },
};

for await (const line of createInterface({input: process.stdin})) {
    const [what, library, ...rest] = line.split(" ");
    let answer;
    try {
        answer = await answers[what](libraries[library], ...rest);
    } catch (error) {
        answer = "refused " + error.name;
    }
    console.log(answer);
}
