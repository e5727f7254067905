// Two other implementations of HPKE behind one pair of functions, for X25519,
// HKDF-SHA256 and AEADs 1 (AES-128-GCM) and 3 (ChaCha20-Poly1305):
//   sender(aead, pub, info)                 -> {enc, seal(text, aad), export(context, length)}
//   receiver(aead, secret, pub, enc, info)  -> {open(sealed, aad), export(context, length)}
import {createCipheriv, createDecipheriv, webcrypto} from "node:crypto";

globalThis.crypto ??= webcrypto; // no global in node 18
const core = await import("@hpke/core");
const {DhkemX25519HkdfSha256} = await import("@hpke/dhkem-x25519");
const {Chacha20Poly1305} = await import("@hpke/chacha20poly1305");
const other = await import("hpke");

const CIPHERS = {1: "aes-128-gcm", 3: "chacha20-poly1305"};
const join = (...parts) => new Uint8Array(Buffer.concat(parts));

export function aeadSeal(aead, key, nonce, aad, text) {
    const c = createCipheriv(CIPHERS[aead], key, nonce, {authTagLength: 16});
    c.setAAD(aad, {plaintextLength: text.length});
    return join(c.update(text), c.final(), c.getAuthTag());
}

export function aeadOpen(aead, key, nonce, aad, sealed) {
    const c = createDecipheriv(CIPHERS[aead], key, nonce, {authTagLength: 16});
    c.setAAD(aad, {plaintextLength: sealed.length - 16});
    c.setAuthTag(sealed.subarray(sealed.length - 16));
    return join(c.update(sealed.subarray(0, sealed.length - 16)), c.final());
}

// ---- @hpke/core ------------------------------------------------------------

const coreSuite = aead => new core.CipherSuite({
    kem: new DhkemX25519HkdfSha256(), kdf: new core.HkdfSha256(),
    aead: aead === 1 ? new core.Aes128Gcm() : new Chacha20Poly1305()});
const bytes = async promise => new Uint8Array(await promise);

const byCore = {
    async sender(aead, pub, info) {
        const suite = coreSuite(aead);
        const recipientPublicKey = await suite.kem.deserializePublicKey(pub);
        const c = await suite.createSenderContext({recipientPublicKey, info});
        return {enc: new Uint8Array(c.enc), seal: (text, aad) => bytes(c.seal(text, aad)),
            export: (context, length) => bytes(c.export(context, length))};
    },
    async receiver(aead, secret, pub, enc, info) {
        const suite = coreSuite(aead);
        const recipientKey = {privateKey: await suite.kem.deserializePrivateKey(secret), publicKey: await suite.kem.deserializePublicKey(pub)};
        const c = await suite.createRecipientContext({recipientKey, enc, info});
        return {open: (sealed, aad) => bytes(c.open(sealed, aad)), export: (context, length) => bytes(c.export(context, length))};
    },
};

// ---- hpke ------------------------------------------------------------------

// Web Cryptography has no ChaCha20-Poly1305: the package takes one from outside.
const chacha = () => ({id: 3, type: "AEAD", name: "ChaCha20Poly1305", Nk: 32, Nn: 12, Nt: 16,
    Seal: async (key, nonce, aad, text) => aeadSeal(3, key, nonce, aad, text),
    Open: async (key, nonce, aad, sealed) => aeadOpen(3, key, nonce, aad, sealed)});
const otherSuite = aead => new other.CipherSuite(other.KEM_DHKEM_X25519_HKDF_SHA256, other.KDF_HKDF_SHA256,
    aead === 1 ? other.AEAD_AES_128_GCM : chacha);

const byOther = {
    async sender(aead, pub, info) {
        const suite = otherSuite(aead);
        const {encapsulatedSecret, ctx} = await suite.SetupSender(await suite.DeserializePublicKey(pub), {info});
        return {enc: encapsulatedSecret, seal: (text, aad) => ctx.Seal(text, aad), export: (context, length) => ctx.Export(context, length)};
    },
    async receiver(aead, secret, pub, enc, info) {
        const suite = otherSuite(aead);
        const pair = {privateKey: await suite.DeserializePrivateKey(secret, true), publicKey: await suite.DeserializePublicKey(pub)};
        const c = await suite.SetupRecipient(pair, enc, {info});
        return {open: (sealed, aad) => c.Open(sealed, aad), export: (context, length) => c.Export(context, length)};
    },
};

export const libraries = {core: byCore, hpke: byOther};
