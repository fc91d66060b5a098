// HPKE (RFC 9180, base mode, single shot) built from node:crypto, suites 1 and 2: the cost for a JavaScript backend
// that adds no package.
//
// node node.mjs         a runner (Benchmarks/README.md)
// node node.mjs check   reads lines of the floor's check, writes the same messages sealed by node

import crypto from "node:crypto";
import readline from "node:readline";

const message = Buffer.alloc(256, "x");
const u16 = (number) => Buffer.from([number >> 8, number & 255]);
const lengthPrefixed = (text) => Buffer.concat([u16(text.length), Buffer.from(text)]);
const hmac = (key, ...parts) => {
    const code = crypto.createHmac("sha256", key);
    for (const part of parts) code.update(part);
    return code.digest();
};

const info = (suite, kid) => Buffer.concat([
    Buffer.from("pushcrypt/1\0"), Buffer.from([suite, 0]), lengthPrefixed(kid), lengthPrefixed(""),
    lengthPrefixed("com.example.app"),
]);

// RFC 9180 section 4.
class LabeledKDF {
    constructor(...id) {
        this.prefix = Buffer.concat([Buffer.from("HPKE-v1"), ...id]);
    }

    extract(salt, label, ikm) {
        return hmac(salt, this.prefix, label, ikm);
    }

    expand(prk, label, context, count) {
        return hmac(prk, u16(count), this.prefix, label, context, Buffer.from([1])).subarray(0, count);
    }
}

const empty = Buffer.alloc(0);

class Suite {
    constructor(number, kem, aead, keyBytes, curve) {
        Object.assign(this, { number, keyBytes, curve });
        this.cipher = `aes-${keyBytes * 8}-gcm`;
        this.kemKDF = new LabeledKDF(Buffer.from("KEM"), u16(kem));
        this.kdf = new LabeledKDF(Buffer.from("HPKE"), u16(kem), u16(1), u16(aead));
        this.pskIDHash = this.kdf.extract(empty, "psk_id_hash", empty);
    }

    // Sections 4.1 and 5.1.
    schedule(dh, enc, recipient, info) {
        const eaePRK = this.kemKDF.extract(empty, "eae_prk", dh);
        const shared = this.kemKDF.expand(eaePRK, "shared_secret", Buffer.concat([enc, recipient]), 32);
        const infoHash = this.kdf.extract(empty, "info_hash", info);
        const context = Buffer.concat([Buffer.from([0]), this.pskIDHash, infoHash]);
        const secret = this.kdf.extract(shared, "secret", empty);
        return {
            key: this.kdf.expand(secret, "key", context, this.keyBytes),
            nonce: this.kdf.expand(secret, "base_nonce", context, 12),
        };
    }

    seal(plaintext, recipient, info) {
        const { enc, dh } = this.curve.begin(recipient);
        const { key, nonce } = this.schedule(dh, enc, recipient.bytes, info);
        const cipher = crypto.createCipheriv(this.cipher, key, nonce);
        return Buffer.concat([enc, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    }

    open(sealed, recipient, info) {
        const enc = sealed.subarray(0, recipient.bytes.length);
        const { key, nonce } = this.schedule(this.curve.receive(recipient, enc), enc, recipient.bytes, info);
        const cipher = crypto.createDecipheriv(this.cipher, key, nonce);
        cipher.setAuthTag(sealed.subarray(-16));
        return Buffer.concat([cipher.update(sealed.subarray(enc.length, -16)), cipher.final()]);
    }
}

const p256 = {
    recipient(secret = null) {
        const ecdh = crypto.createECDH("prime256v1");
        if (secret) ecdh.setPrivateKey(secret);
        else ecdh.generateKeys();
        return { bytes: ecdh.getPublicKey(), ecdh };
    },
    begin(recipient) {
        const ephemeral = crypto.createECDH("prime256v1");
        const enc = ephemeral.generateKeys();
        return { enc, dh: ephemeral.computeSecret(recipient.bytes) };
    },
    receive: (recipient, enc) => recipient.ecdh.computeSecret(enc),
};

const spki = Buffer.from("302a300506032b656e032100", "hex");
const pkcs8 = Buffer.from("302e020100300506032b656e04220420", "hex");
const publicKey = (bytes) =>
    crypto.createPublicKey({ key: Buffer.concat([spki, bytes]), format: "der", type: "spki" });

const x25519 = {
    recipient(secret = crypto.randomBytes(32)) {
        const der = Buffer.concat([pkcs8, secret]);
        const privateKey = crypto.createPrivateKey({ key: der, format: "der", type: "pkcs8" });
        const key = crypto.createPublicKey(privateKey);
        return { privateKey, publicKey: key, bytes: key.export({ format: "der", type: "spki" }).subarray(-32) };
    },
    begin(recipient) {
        const ephemeral = crypto.generateKeyPairSync("x25519");
        const enc = ephemeral.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
        const dh = crypto.diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient.publicKey });
        return { enc, dh };
    },
    receive: (recipient, enc) =>
        crypto.diffieHellman({ privateKey: recipient.privateKey, publicKey: publicKey(enc) }),
};

const suites = { 1: new Suite(1, 0x0010, 0x0002, 32, p256), 2: new Suite(2, 0x0020, 0x0001, 16, x25519) };

function operation(job) {
    const suite = suites[job.slice(4)];
    if (!suite) return null;
    const [recipient, context] = [suite.curve.recipient(), info(suite.number, "AAAAAAAAAAA")];
    if (job.startsWith("seal")) return () => suite.seal(message, recipient, context);
    if (!job.startsWith("open")) return null;
    const sealed = suite.seal(message, recipient, context);
    return () => suite.open(sealed, recipient, context);
}

function nanoseconds(work, count) {
    const start = process.hrtime.bigint();
    for (let index = 0; index < count; index++) work();
    return process.hrtime.bigint() - start;
}

function answer(line) {
    const [job, count, threads] = line.split(" ");
    const work = threads === undefined || threads === "1" ? operation(job) : null;
    if (!work) return "unsupported";
    // Enough calls for the compiler to optimize the code.
    nanoseconds(work, 256);
    return nanoseconds(work, Number(count)).toString();
}

function check(line) {
    const [number, secret, kid, message, sealed] = line.split(" ");
    const suite = suites[number];
    if (!suite) return null;
    const recipient = suite.curve.recipient(Buffer.from(secret, "hex"));
    const opened = suite.open(Buffer.from(sealed, "hex"), recipient, info(suite.number, kid));
    if (opened.toString("hex") !== message) throw new Error(`differs from the sealed message: ${line}`);
    const again = suite.seal(opened, recipient, info(suite.number, kid));
    return [number, secret, kid, message, again.toString("hex")].join(" ");
}

const isCheck = process.argv[2] === "check";
if (!isCheck) console.log(`node ${process.version}, OpenSSL ${process.versions.openssl}`);
readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const text = isCheck ? check(line) : answer(line);
    if (text !== null) console.log(text);
});
