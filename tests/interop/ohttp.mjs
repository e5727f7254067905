// Oblivious HTTP [RFC 9458] over either library of hpke.mjs.
import {createHmac, randomBytes} from "node:crypto";
import {aeadOpen, aeadSeal} from "./hpke.mjs";

const text = new TextEncoder();
const REQUEST = text.encode("message/bhttp request\0"), RESPONSE = text.encode("message/bhttp response");
const NOTHING = new Uint8Array(0);
const keyLength = aead => aead === 1 ? 16 : 32;
const hmac = (key, ...parts) => parts.reduce((h, part) => h.update(part), createHmac("sha256", key)).digest();

async function responseKeys(context, enc, aead, nonce) {
    const secret = await context.export(RESPONSE, keyLength(aead));
    const prk = hmac(Buffer.concat([enc, nonce]), secret);
    const expand = (label, length) => hmac(prk, label, Uint8Array.of(1)).subarray(0, length);
    return {key: expand("key", keyLength(aead)), nonce: expand("nonce", 12)};
}

// The first AEAD of ours in a key configuration.
export function readConfig(config) {
    const view = Buffer.from(config), suites = [];
    for (let i = 37; i < 37 + view.readUInt16BE(35); i += 4)
        suites.push(view.readUInt16BE(i + 2));
    return {id: view[0], pub: view.subarray(3, 35), aead: suites.find(s => s === 1 || s === 3)};
}

export async function ask(library, {id, pub, aead}, bhttp) {
    const header = Uint8Array.of(id, 0, 0x20, 0, 1, 0, aead);
    const context = await library.sender(aead, pub, Buffer.concat([REQUEST, header]));
    const sealed = await context.seal(bhttp, NOTHING);
    return {
        request: Buffer.concat([header, context.enc, sealed]),
        async open(response) {
            const nonce = response.subarray(0, keyLength(aead)), keys = await responseKeys(context, context.enc, aead, nonce);
            return aeadOpen(aead, keys.key, keys.nonce, NOTHING, response.subarray(nonce.length));
        },
    };
}

export async function serve(library, {secret, pub}, request) {
    const header = request.subarray(0, 7), enc = request.subarray(7, 39), aead = request[6];
    const context = await library.receiver(aead, secret, pub, enc, Buffer.concat([REQUEST, header]));
    const bhttp = await context.open(request.subarray(39), NOTHING);
    return {
        bhttp,
        async seal(response) {
            const nonce = randomBytes(keyLength(aead)), keys = await responseKeys(context, enc, aead, nonce);
            return Buffer.concat([nonce, aeadSeal(aead, keys.key, keys.nonce, NOTHING, response)]);
        },
    };
}
