/** The probes of the doctor: all its I/O. */
import { execFile } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { parseJson } from "../../base/parse-json.ts";
import { isRecord } from "../../base/parse-json.ts";
import { isNative } from "../../crypto/secp256k1.ts";
import { assertLocal } from "../../storage/data-directory.ts";
import type { HttpGet } from "./registry-check.ts";

export type Probes = {
  /** What a program prints; undefined where it is not there or fails. */
  readonly run: (program: string, args: readonly string[]) => Promise<string | undefined>;
  readonly get: HttpGet;
  readonly isPortFree: (port: number) => Promise<boolean>;
  /** Where data would go: the directory, or the nearest one above that exists. */
  readonly disk: (directory: string) => { readonly free: number; readonly problem?: string };
  readonly platform: string;
  readonly nodeVersion: string;
  readonly cpuCount: number;
  readonly freeMemory: number;
  readonly isNativeSecp256k1: boolean;
  readonly nowMs: () => number;
};

const RUN_TIMEOUT_MS = 20_000;
const HTTP_TIMEOUT_MS = 10_000;
const OUTPUT_MAX = 64 * 1024 * 1024;
const TOKEN_ANSWER_MAX = 64 * 1024;
/** A registry hides an image whose form the question does not accept. */
const ACCEPTED = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/json",
].join(", ");

export function createProbes(): Probes {
  return {
    run,
    get,
    isPortFree,
    disk,
    platform: `${process.platform}-${process.arch}`,
    nodeVersion: process.versions.node,
    cpuCount: os.availableParallelism(),
    // Available memory, where the kernel reports it: caches count as free.
    freeMemory: process.availableMemory(),
    isNativeSecp256k1: isNative,
    nowMs: () => Date.now(),
  };
}

function run(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: RUN_TIMEOUT_MS, maxBuffer: OUTPUT_MAX };
    execFile(program, [...args], options, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}

async function get(
  url: string,
  authorization: string | undefined,
): Promise<Awaited<ReturnType<HttpGet>>> {
  try {
    const response = await fetch(url, {
      headers: { accept: ACCEPTED, ...(authorization !== undefined && { authorization }) },
      signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
    });
    const { status, headers } = response;
    const date = Date.parse(headers.get("date") ?? "");
    return {
      status,
      challenge: headers.get("www-authenticate") ?? undefined,
      dateMs: Number.isNaN(date) ? undefined : date,
      digest: headers.get("docker-content-digest") ?? undefined,
      token: tokenIn((await response.text()).slice(0, TOKEN_ANSWER_MAX)),
    };
  } catch {
    return undefined;
  }
}

function tokenIn(text: string): string | undefined {
  const answer = parseJson(text);
  const token = isRecord(answer) ? (answer["token"] ?? answer["access_token"]) : undefined;
  return typeof token === "string" ? token : undefined;
}

function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function disk(directory: string): { free: number; problem?: string } {
  let place = path.resolve(directory);
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  const { bavail, bsize, type } = statfsSync(place);
  const free = bavail * bsize;
  try {
    assertLocal(place, type);
    return { free };
  } catch (error) {
    return { free, problem: error instanceof Error ? error.message : String(error) };
  }
}
