/** Whether the image is where the pods will look for it, and how it gets there. */
import { bad, doubtful, good, unknown, type Finding } from "./finding.ts";
import {
  basicAuthorization,
  registryUrl,
  tokenUrl,
  type HttpGet,
  type RegistryAccess,
} from "./registry-check.ts";

/** `quorate:0.1.0`, as it stands behind the registry. */
export type ImageName = { readonly repository: string; readonly tag: string };

export function parseImageName(text: string): ImageName | undefined {
  const match = /^([a-z0-9][a-z0-9._/-]*):([A-Za-z0-9_][A-Za-z0-9._-]{0,127})$/.exec(text);
  return match === null ? undefined : { repository: match[1] ?? "", tag: match[2] ?? "" };
}

/** Asks the registry for the image's manifest, as a pod's machine will. */
export async function checkImage(
  access: RegistryAccess,
  { repository, tag }: ImageName,
  get: HttpGet,
): Promise<Finding> {
  const { host, base } = registryUrl(access.registry);
  const name = `${host}/${repository}:${tag}`;
  const subject = `image ${repository}:${tag}`;
  const url = `${base}${repository}/manifests/${tag}`;
  const first = await get(url, undefined);
  const answer = first?.status === 401 ? await askAs(access, url, first.challenge, get) : first;
  if (answer === undefined) {
    return unknown(subject, "the registry does not answer", "check the registry first");
  }
  switch (answer.status) {
    case 200:
      return good(subject, `in ${host}${answer.digest === undefined ? "" : `, ${answer.digest}`}`);
    case 404:
      return bad(
        subject,
        `${host} does not have it`,
        `docker build -f deploy/image/Dockerfile -t ${name} . && docker push ${name} ` +
          '(docs/deploy.md, "The image first")',
      );
    case 401:
    case 403:
      return bad(
        subject,
        `${host} does not show it to this user (${answer.status})`,
        "check user name, password and their right to pull",
      );
    default:
      return doubtful(subject, `${host} answers with ${answer.status}`, "ask again later");
  }
}

/** An image that was loaded into minikube needs no registry. */
export function checkLoadedImage(
  listed: string | undefined,
  { repository, tag }: ImageName,
): Finding | undefined {
  const isThere = (listed ?? "")
    .split("\n")
    .some((line) => line.trim().endsWith(`/${repository}:${tag}`));
  return isThere ? good(`image ${repository}:${tag}`, "loaded into minikube") : undefined;
}

async function askAs(
  access: RegistryAccess,
  url: string,
  challenge: string | undefined,
  get: HttpGet,
): ReturnType<HttpGet> {
  const basic = basicAuthorization(access);
  const tokens = tokenUrl(challenge);
  if (tokens === undefined) return get(url, basic);
  const answer = await get(tokens, basic);
  if (answer?.status !== 200) return answer;
  return get(url, answer.token === undefined ? basic : `Bearer ${answer.token}`);
}
