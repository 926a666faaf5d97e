/** `npm run audit` fails for what is serious, and for nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { auditVerdict } from "../../tools/audit/audit-verdict.ts";

const answer = (severity: string): string =>
  JSON.stringify({
    vulnerabilities: {
      ws: { name: "ws", severity, range: "<9", via: [{ title: "DoS", url: "https://a.example" }] },
    },
  });

describe("the audit of dependencies", () => {
  it("fails at its level and above, with name, range and cause", () => {
    for (const severity of ["high", "critical", "unheard-of"]) {
      const { code, lines } = auditVerdict(answer(severity), "high");
      assert.equal(code, 1, severity);
      assert.equal(lines[0], `${severity}: ws <9: DoS, https://a.example`);
    }
  });

  it("passes below its level, and with nothing found", () => {
    for (const text of [answer("moderate"), answer("info"), '{"vulnerabilities":{}}']) {
      assert.equal(auditVerdict(text, "high").code, 0, text);
    }
  });

  it("says that it was skipped where the registry has no answer", () => {
    for (const text of ["", "no JSON", "null", '{"message":"405 Method Not Allowed"}']) {
      const { code, lines } = auditVerdict(text, "high");
      assert.deepEqual([code, lines.length], [0, 1]);
      assert.match(lines[0] ?? "", /skipped/);
    }
  });
});
