/** Finds out what kind of test a fixture is, by its shape, and runs it. */
import path from "node:path";

import { asObject, type Fixture, type JsonObject } from "./fixture-data.ts";
import { failed, inapplicable, type Outcome, type Verdict } from "./outcome.ts";
import { runRlpTest } from "./rlp-tests.ts";
import { runStateTest } from "./state-tests.ts";
import { runTransactionTest } from "./transaction-tests.ts";
import { runTrieTest } from "./trie-tests.ts";

export function runFixture(fixture: Fixture): Outcome[] {
  const folder = path.dirname(fixture.file);
  const verdicts = judge(fixture);
  return verdicts.map(([name, verdict]) => ({
    folder,
    name: `${fixture.file}: ${name}`,
    ...verdict,
  }));
}

function judge(fixture: Fixture): (readonly [name: string, verdict: Verdict])[] {
  try {
    const body = asObject(fixture.body);
    if (isStateTest(body)) return runStateTest(fixture);
    return [[fixture.name, judgeOne(fixture, body)]];
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [[fixture.name, failed(text)]];
  }
}

function judgeOne(fixture: Fixture, body: JsonObject): Verdict {
  if (body["txbytes"] !== undefined) return runTransactionTest(fixture);
  if (body["out"] !== undefined) return runRlpTest(fixture);
  if (body["in"] !== undefined) return runTrieTest(fixture);
  return inapplicable("is no state, transaction, trie or RLP test");
}

function isStateTest(body: JsonObject): boolean {
  return body["pre"] !== undefined && body["post"] !== undefined && body["env"] !== undefined;
}
