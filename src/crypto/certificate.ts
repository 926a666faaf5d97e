/**
 * The X.509 form of a node's Ed25519 key, which TLS asks for and nothing else uses. A certificate
 * here is only an envelope for the public key: peers compare that key with the one in genesis, so
 * names, dates, serial numbers and issuers carry no meaning and the same key always gives the same
 * bytes. node:crypto reads certificates but cannot make them; the few structures of DER that one
 * needs are written below.
 */
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { concatBytes } from "../base/bytes.ts";
import { invariant } from "../base/invariant.ts";
import {
  createSigner,
  ED25519_PUBLIC_KEY_SIZE,
  ED25519_SEED_SIZE,
  type Signer,
} from "./ed25519.ts";

/** What a TLS end point presents and proves. `privateKeyPem` is secret: never log it. */
export type TlsIdentity = {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
};

const TAG_INTEGER = 0x02;
const TAG_BIT_STRING = 0x03;
const TAG_OCTET_STRING = 0x04;
const TAG_OBJECT_ID = 0x06;
const TAG_UTF8_STRING = 0x0c;
const TAG_UTC_TIME = 0x17;
const TAG_GENERALIZED_TIME = 0x18;
const TAG_SEQUENCE = 0x30;
const TAG_SET = 0x31;
const TAG_VERSION = 0xa0;

/** 1.3.101.112: Ed25519, as a key type and as a signature algorithm (RFC 8410). */
const ED25519_ALGORITHM = der(TAG_SEQUENCE, der(TAG_OBJECT_ID, Uint8Array.of(0x2b, 0x65, 0x70)));
/** 2.5.4.3: common name. */
const COMMON_NAME_ID = der(TAG_OBJECT_ID, Uint8Array.of(0x55, 0x04, 0x03));
const VERSION_3 = der(TAG_VERSION, der(TAG_INTEGER, Uint8Array.of(2)));
const PKCS8_VERSION = der(TAG_INTEGER, Uint8Array.of(0));

/** 1970 to the end of 9999, which RFC 5280 defines as "never": a wrong clock cuts no link. */
const VALIDITY = der(
  TAG_SEQUENCE,
  der(TAG_UTC_TIME, ascii("700101000000Z")),
  der(TAG_GENERALIZED_TIME, ascii("99991231235959Z")),
);

const SERIAL_SIZE = 16;
const PEM_LINE_LENGTH = 64;

export function createTlsIdentity(seed: Uint8Array, commonName = "quorate node"): TlsIdentity {
  return {
    certificatePem: createCertificatePem(createSigner(seed), commonName),
    privateKeyPem: privateKeyToPem(seed),
  };
}

/** A self-signed certificate of the signer's key; equal keys and names give equal text. */
export function createCertificatePem(signer: Signer, commonName: string): string {
  const name = encodeName(commonName);
  const toBeSigned = der(
    TAG_SEQUENCE,
    VERSION_3,
    der(TAG_INTEGER, serialOf(signer.publicKey)),
    ED25519_ALGORITHM,
    name,
    VALIDITY,
    name,
    der(TAG_SEQUENCE, ED25519_ALGORITHM, bitString(signer.publicKey)),
  );
  const signature = bitString(signer.sign(toBeSigned));
  return toPem("CERTIFICATE", der(TAG_SEQUENCE, toBeSigned, ED25519_ALGORITHM, signature));
}

/** PKCS #8 (RFC 8410): what TLS stacks and openssl read. */
export function privateKeyToPem(seed: Uint8Array): string {
  invariant(seed.length === ED25519_SEED_SIZE, "an Ed25519 seed has 32 bytes");
  const key = der(TAG_OCTET_STRING, der(TAG_OCTET_STRING, seed));
  return toPem("PRIVATE KEY", der(TAG_SEQUENCE, PKCS8_VERSION, ED25519_ALGORITHM, key));
}

/** The seed in a private key file, or undefined if the text is anything but an Ed25519 key. */
export function parsePrivateKeyPem(pem: string): Uint8Array | undefined {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== "ed25519") return undefined;
    return fromBase64Url(key.export({ format: "jwk" }).d, ED25519_SEED_SIZE);
  } catch {
    return undefined;
  }
}

/**
 * The raw public key in a certificate (DER or PEM), or undefined if it holds no Ed25519 key. It
 * says nothing about who presented the certificate: that is proven by the TLS handshake alone.
 */
export function readCertificateKey(certificate: Uint8Array | string): Uint8Array | undefined {
  try {
    const { publicKey } = new X509Certificate(certificate);
    if (publicKey.asymmetricKeyType !== "ed25519") return undefined;
    return fromBase64Url(publicKey.export({ format: "jwk" }).x, ED25519_PUBLIC_KEY_SIZE);
  } catch {
    return undefined;
  }
}

function fromBase64Url(text: string | undefined, size: number): Uint8Array | undefined {
  const bytes = Uint8Array.from(Buffer.from(text ?? "", "base64url"));
  return bytes.length === size ? bytes : undefined;
}

function encodeName(commonName: string): Uint8Array {
  const text = new TextEncoder().encode(commonName);
  invariant(text.length > 0 && text.length <= 64, "a common name has 1 to 64 bytes");
  const attribute = der(TAG_SEQUENCE, COMMON_NAME_ID, der(TAG_UTF8_STRING, text));
  return der(TAG_SEQUENCE, der(TAG_SET, attribute));
}

/** Stands for the key, so that two keys never share issuer and serial. Positive, no zero lead. */
function serialOf(publicKey: Uint8Array): Uint8Array {
  const digest = createHash("sha256").update(publicKey).digest().subarray(0, SERIAL_SIZE);
  const serial = Uint8Array.from(digest);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
}

function bitString(bytes: Uint8Array): Uint8Array {
  return der(TAG_BIT_STRING, Uint8Array.of(0), bytes);
}

function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(...contents);
  const size = content.length;
  invariant(size < 0x1_0000, "our certificates are short");
  if (size < 0x80) return concatBytes(Uint8Array.of(tag, size), content);
  if (size < 0x100) return concatBytes(Uint8Array.of(tag, 0x81, size), content);
  return concatBytes(Uint8Array.of(tag, 0x82, size >> 8, size & 0xff), content);
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function toPem(label: string, bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes).toString("base64");
  const lines = [`-----BEGIN ${label}-----`];
  for (let at = 0; at < base64.length; at += PEM_LINE_LENGTH) {
    lines.push(base64.slice(at, at + PEM_LINE_LENGTH));
  }
  lines.push(`-----END ${label}-----`, "");
  return lines.join("\n");
}
