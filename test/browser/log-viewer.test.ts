/** The log viewer in a real browser. Screenshots for the docs: SCREENSHOTS=docs/images. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { browserMissing, openBrowser } from "../support/processes/browser.ts";
import { logLine, LogStackClient, logtimeOf } from "../support/log-stack-client.ts";
import { startNetwork, waitFor } from "../support/processes/network-process.ts";

const missing = browserMissing();
if (missing !== undefined) console.log(`SKIPPED the log viewer in a browser: ${missing}`);

const HOUR_MS = 3_600_000;

describe("log viewer", { skip: missing ?? false }, () => {
  let browser: Browser;
  let client: LogStackClient;
  let page: Page;
  let problems: string[];

  before(async () => {
    browser = await openBrowser();
    client = await LogStackClient.open();
    await client.send(history());
  });
  after(async () => {
    await browser.close();
    await client.close();
  });
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    problems = watchProblems(page);
  });
  afterEach(async () => {
    await page.close();
    assert.deepEqual(problems, [], "the page complained");
  });

  const open = async (hash = ""): Promise<void> => {
    await page.goto(`${client.viewerUrl}/app/discover${hash}`);
    await page.locator("#total", { hasText: "entr" }).waitFor();
  };
  const total = async (): Promise<string> => page.locator("#total").innerText();
  const untilTotal = (text: string): Promise<void> =>
    page.locator("#total", { hasText: text }).waitFor();

  it("shows the entries of the last minutes, newest first", async () => {
    await open();
    assert.equal(await total(), "60 entries");
    const times = await page
      .locator(".row time")
      .evaluateAll((nodes) =>
        nodes.map((node) => (node as unknown as { dateTime: string }).dateTime),
      );
    assert.equal(times.length, 60);
    assert.deepEqual(times, times.toSorted().toReversed());
    await screenshot(page, "log-viewer-light.png");
  });

  it("filters by blockchain id and by service name", async () => {
    await open();
    await page.selectOption("#facet-blockchain_id", "chain-b");
    await untilTotal("20 entries");
    await page.selectOption("#facet-service_name", "replica-2");
    await untilTotal("5 entries");
    const services = await page.locator(".row .service").allInnerTexts();
    assert.deepEqual(new Set(services), new Set(["replica-2"]));
    await page.selectOption("#facet-blockchain_id", "");
    await untilTotal("15 entries");
  });

  it("searches words, phrases and fields, and marks what it found", async () => {
    await open();
    await page.fill("#query", '"view changed" service_name:replica-1');
    await page.press("#query", "Enter");
    await untilTotal("1 entry");
    assert.equal(await page.locator(".row mark").first().innerText(), "view");
    await page.fill("#query", "(unclosed");
    await page.press("#query", "Enter");
    await page.locator("#problem", { hasText: "bracket" }).waitFor();
    // The refusal is answered with 400, which a browser notes on its own.
    problems.splice(0);
  });

  it("filters by any field of an opened entry, with and without its value", async () => {
    await open();
    await page.locator(".row .head").first().click();
    const details = page.locator(".row .details");
    await details.getByLabel("Only with node_id replica-", { exact: false }).click();
    await untilTotal("15 entries");
    assert.equal(await page.locator(".chip").count(), 1);
    await page.locator(".chip button").click();
    await untilTotal("60 entries");
    await page.locator(".row .head").first().click();
    await page.getByLabel("Without level", { exact: false }).click();
    await page.locator(".chip.is-negated").waitFor();
    const badges = await page.locator(".row .badge").allInnerTexts();
    assert.ok(badges.length > 0 && badges.length < 60);
  });

  it("lists fields with their values", async () => {
    await open();
    await page.getByRole("button", { name: /^view \(/ }).click();
    await page.locator("#field-list .value").first().waitFor();
    await page.locator("#field-list").getByLabel("Only with view 3").click();
    await untilTotal("1 entry");
  });

  it("zooms into the time that is brushed in the histogram, and out again", async () => {
    await open("#/?from=now-6h&to=now");
    await untilTotal("160 entries");
    const box = await page.locator("#histogram").boundingBox();
    assert.ok(box !== null);
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.55, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, y, { steps: 5 });
    await page.mouse.up();
    await untilTotal("100 entries");
    assert.match(page.url(), /from=\d{4}-/);
    await page.click("#back");
    await untilTotal("60 entries");
  });

  it("opens a link with everything that was chosen", async () => {
    await open("#/?from=now-6h&to=now");
    await page.fill("#query", "final");
    await page.press("#query", "Enter");
    await page.selectOption("#facet-service_name", "replica-3");
    await page.waitForURL(/replica-3/);
    const found = "40 entries";
    await untilTotal(found);
    const other = await browser.newPage();
    await other.goto(page.url());
    await other.locator("#total", { hasText: found }).waitFor();
    assert.equal(await other.inputValue("#query"), "final");
    assert.equal(await other.inputValue("#facet-service_name"), "replica-3");
    assert.equal(await other.inputValue("#range"), "now-6h");
    await other.close();
    await page.goBack();
    assert.equal(await page.inputValue("#facet-service_name"), "");
  });

  it("shows new entries as they come, of those that are asked for", async () => {
    await open("#/?filter=%2Blive%3Dyes");
    await page.click("#live");
    await page.waitForURL(/live=1/);
    await client.send([logLine({ message: "other" })]);
    await client.send([logLine({ message: "first live", live: "yes" })]);
    await page.locator(".row", { hasText: "first live" }).waitFor({ timeout: 2_000 });
    await client.send([logLine({ message: "second live", live: "yes" })]);
    await page.locator(".row", { hasText: "second live" }).waitFor({ timeout: 2_000 });
    assert.equal(await page.locator(".row").count(), 2);
    await untilTotal("2 entries");
    await page.click("#live");
    await client.send([logLine({ message: "unseen", live: "yes" })]);
    await page.waitForTimeout(600);
    assert.equal(await page.locator(".row", { hasText: "unseen" }).count(), 0);
  });

  it("shows hostile text as text", async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await client.send([logLine({ message: evil, [evil]: evil, evil: "yes" })]);
    await open("#/?filter=%2Bevil%3Dyes");
    await page.locator(".row .head").click();
    await page.locator(".details").waitFor();
    assert.equal(await page.locator(".row img, .row script").count(), 0);
    assert.ok((await page.locator(".row .text").innerText()).includes(evil));
    assert.equal(await page.title(), "Logs – Quorate");
  });

  it("changes between dark and light and remembers", async () => {
    await open();
    const theme = (): Promise<string | null> => page.locator("html").getAttribute("data-theme");
    const before = await theme();
    await page.click("#theme");
    const chosen = await theme();
    assert.notEqual(chosen, before);
    await page.reload();
    await page.locator("#total", { hasText: "entr" }).waitFor();
    assert.equal(await theme(), chosen);
    await page.locator(".row .head").nth(2).click();
    await screenshot(page, "log-viewer-dark.png");
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 375, height: 740 });
    await open();
    const width = await page.evaluate("document.documentElement.scrollWidth");
    assert.ok(typeof width === "number" && width <= 375, `${String(width)} pixels wide`);
    await page.locator(".row .head").first().click();
    await page.locator(".details").waitFor();
    await screenshot(page, "log-viewer-phone.png");
  });
});

describe("log viewer of a running network", { skip: missing ?? false }, () => {
  it("shows what the nodes log within two seconds", { timeout: 120_000 }, async () => {
    const browser = await openBrowser();
    const ports = ["input", "search", "viewer"].flatMap((name) => [`--log-${name}-port`, "0"]);
    const network = await startNetwork({ args: ["--logs", ...ports] });
    try {
      const { logsUrl } = JSON.parse(network.output.stdout) as { logsUrl: string };
      const page = await browser.newPage();
      await page.goto(`${logsUrl}#/?live=1`);
      await page.locator(".row", { hasText: "the pool is ready" }).waitFor();
      const services = await page.locator("#facet-service_name option").allInnerTexts();
      const named = ["replica-0", "replica-3", "client-0-clientservice", "client-0-ethrpc"];
      for (const name of named)
        assert.ok(
          services.some((text) => text.startsWith(name)),
          name,
        );
      network.kill("replica-3");
      const killedMs = performance.now();
      // The others say so at once.
      await page.locator(".row.is-new").first().waitFor({ timeout: 5_000 });
      const shownMs = performance.now() - killedMs;
      console.log(`a log line was shown ${Math.round(shownMs)} ms after its cause`);
      assert.ok(shownMs < 2_000, `${shownMs} ms`);
      await waitFor(() => network.pid("replica-3") !== undefined, "replica-3 is back");
    } finally {
      await browser.close();
      await network.stop();
    }
  });
});

/** 60 entries of the last ten minutes by two networks, and 100 of two hours ago. */
function history(): unknown[] {
  const nowMs = Date.now();
  const recent = Array.from({ length: 60 }, (_, index) => {
    const node = `replica-${index % 4}`;
    return logLine({
      logtime: logtimeOf(nowMs - 1_000 - index * 9_000),
      blockchain_id: index % 3 === 0 ? "chain-b" : "chain-a",
      service_name: node,
      node_id: node,
      level: index % 20 === 7 ? "error" : index % 10 === 3 ? "warn" : "info",
      message: index === 5 ? "view changed" : "block final",
      sequence: 1_000 - index,
      ...(index === 5 ? { view: 3 } : {}),
    });
  });
  const earlier = Array.from({ length: 100 }, (_, index) =>
    logLine({
      logtime: logtimeOf(nowMs - 2 * HOUR_MS - index * 1_000),
      service_name: `replica-${index % 4}`,
    }),
  );
  return [...recent, ...earlier];
}

function watchProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    const { hostname } = new URL(request.url());
    if (hostname !== "127.0.0.1") problems.push(`asked for ${request.url()}`);
  });
  return problems;
}

async function screenshot(page: Page, name: string): Promise<void> {
  const directory = process.env["SCREENSHOTS"];
  if (directory === undefined) return;
  await page.screenshot({ path: path.join(directory, name) });
}
