import assert from "node:assert/strict";
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  X509Certificate,
} from "node:crypto";
import { describe, it } from "node:test";
import {
  createCertificatePem,
  createTlsIdentity,
  parsePrivateKeyPem,
  privateKeyToPem,
  readCertificateKey,
} from "../../../src/crypto/certificate.ts";
import { createSigner } from "../../../src/crypto/ed25519.ts";

const SEED = Uint8Array.from({ length: 32 }, (_, index) => index * 7);

describe("certificate", () => {
  it("is a valid self-signed X.509 certificate of the key, without end", () => {
    const { certificatePem } = createTlsIdentity(SEED, "replica-2");
    const certificate = new X509Certificate(certificatePem);
    assert.ok(certificate.verify(certificate.publicKey), "signed by its own key");
    assert.equal(certificate.subject, "CN=replica-2");
    assert.equal(certificate.issuer, certificate.subject);
    assert.ok(certificate.checkIssued(certificate));
    assert.equal(certificate.validFromDate.getUTCFullYear(), 1970);
    assert.equal(certificate.validToDate.getUTCFullYear(), 9999);
    assert.deepEqual(readCertificateKey(certificate.raw), createSigner(SEED).publicKey);
    assert.deepEqual(readCertificateKey(certificatePem), createSigner(SEED).publicKey);
  });

  it("its private key belongs to it", () => {
    const identity = createTlsIdentity(SEED);
    const key = createPrivateKey(identity.privateKeyPem);
    assert.ok(new X509Certificate(identity.certificatePem).checkPrivateKey(key));
    const exported = createPublicKey(key).export({ format: "jwk" }).x ?? "";
    assert.deepEqual(
      Uint8Array.from(Buffer.from(exported, "base64url")),
      createSigner(SEED).publicKey,
    );
  });

  it("the same key always gives the same text, another key another serial", () => {
    assert.deepEqual(createTlsIdentity(SEED), createTlsIdentity(SEED));
    const serials = new Set<string>();
    for (let index = 0; index < 200; index++) {
      const pem = createCertificatePem(createSigner(new Uint8Array(32).fill(index)), "node");
      const certificate = new X509Certificate(pem);
      serials.add(certificate.serialNumber);
      assert.ok(certificate.verify(certificate.publicKey), `seed ${index}`);
    }
    assert.equal(serials.size, 200);
  });

  it("long names need the long form of a length", () => {
    const certificate = new X509Certificate(createTlsIdentity(SEED, "n".repeat(64)).certificatePem);
    assert.equal(certificate.subject, `CN=${"n".repeat(64)}`);
    assert.throws(() => createTlsIdentity(SEED, "n".repeat(65)));
    assert.throws(() => createTlsIdentity(SEED, ""));
  });

  it("private keys survive the round trip through PEM", () => {
    assert.deepEqual(parsePrivateKeyPem(privateKeyToPem(SEED)), SEED);
    assert.throws(() => privateKeyToPem(SEED.subarray(1)));
  });

  it("anything but an Ed25519 key is refused, not guessed", () => {
    const rsa = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = rsa.privateKey.export({ format: "pem", type: "pkcs8" });
    assert.equal(parsePrivateKeyPem(pem), undefined);
    assert.equal(parsePrivateKeyPem("not a key"), undefined);
    assert.equal(readCertificateKey("not a certificate"), undefined);
    assert.equal(readCertificateKey(new Uint8Array(64)), undefined);
  });
});
