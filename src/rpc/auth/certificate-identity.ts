/** Callers that prove who they are by a client certificate, which TLS has verified already. */
import type { PeerCertificate } from "node:tls";
import type { Identity } from "./identity.ts";

/** What a certificate must have, and who its holder then is. All that is given must hold. */
export type CertificateRule = {
  /** SHA-256 of the certificate, in hexadecimal, with or without colons. */
  readonly fingerprint?: string | undefined;
  readonly commonName?: string | undefined;
  /** One of its alternative names, such as `DNS:app.example.org` or `URI:spiffe://example.org/app`. */
  readonly alternativeName?: string | undefined;
  readonly subject: string;
  readonly account?: bigint | undefined;
  readonly roles: readonly string[];
};

/** What is needed of a connection's certificate. */
export type ClientCertificate = Pick<
  PeerCertificate,
  "fingerprint256" | "subject" | "subjectaltname"
>;

/** The identity by the first rule that fits; undefined if none does. */
export function certificateIdentity(
  certificate: ClientCertificate,
  rules: readonly CertificateRule[],
): Identity | undefined {
  const rule = rules.find((candidate) => isMatch(certificate, candidate));
  if (rule === undefined) return undefined;
  const { subject, account, roles } = rule;
  return { subject, account, roles };
}

function isMatch(certificate: ClientCertificate, rule: CertificateRule): boolean {
  const { fingerprint, commonName, alternativeName } = rule;
  const conditions: boolean[] = [];
  if (fingerprint !== undefined) {
    conditions.push(plainHex(certificate.fingerprint256) === plainHex(fingerprint));
  }
  if (commonName !== undefined) {
    conditions.push((certificate.subject.CN as unknown) === commonName);
  }
  if (alternativeName !== undefined) {
    conditions.push(alternativeNames(certificate).includes(alternativeName));
  }
  // A rule without a condition would admit everyone.
  return conditions.length > 0 && conditions.every(Boolean);
}

/**
 * Node joins the names with a comma and a space and puts names that hold anything special in
 * quotes. Those are left out: none that a rule would name needs them, and a name like
 * `x, DNS:other` must not become two.
 */
function alternativeNames({ subjectaltname }: ClientCertificate): string[] {
  if (subjectaltname === undefined || subjectaltname.includes('"')) return [];
  return subjectaltname.split(", ");
}

function plainHex(text: string): string {
  return text.replaceAll(":", "").toLowerCase();
}
