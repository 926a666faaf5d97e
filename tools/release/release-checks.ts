/** Whether the files of the repository are fit for a release of a version. */

export type ReleaseFiles = {
  readonly lock: string;
  readonly chart: string;
  readonly dockerfile: string;
  readonly changelog: string;
  /** As `git status --porcelain` and `git tag --list` print them. */
  readonly changes: string;
  readonly tags: string;
};

export type ReleaseProblems = {
  /** Files contradict each other. */
  readonly fatal: readonly string[];
  /** Has to be done before the release, and stands in no file's way. */
  readonly pending: readonly string[];
};

const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

export function releaseProblems(version: string, files: ReleaseFiles): ReleaseProblems {
  if (!VERSION.test(version)) {
    return { fatal: [`package.json: "${version}" is no semantic version`], pending: [] };
  }
  return {
    fatal: [...contradictions(version, files), ...missingEntry(version, files.changelog)],
    pending: pendingSteps(version, files),
  };
}

function contradictions(version: string, { lock, chart, dockerfile }: ReleaseFiles): string[] {
  const { version: locked } = JSON.parse(lock) as { readonly version: string };
  const found: readonly (readonly [string, string | undefined])[] = [
    ["package-lock.json", locked],
    ["version of deploy/chart/Chart.yaml", /^version: "?([^"\s]+)/m.exec(chart)?.[1]],
    ["appVersion of deploy/chart/Chart.yaml", /^appVersion: "?([^"\s]+)/m.exec(chart)?.[1]],
    ["VERSION of deploy/image/Dockerfile", /^ARG VERSION=(\S+)/m.exec(dockerfile)?.[1]],
  ];
  return found
    .filter(([, other]) => other !== version)
    .map(([where, other]) => `${where} is ${other ?? "missing"}, package.json has ${version}`);
}

/** The first entry of the changelog is that of the version, and says something. */
function missingEntry(version: string, changelog: string): string[] {
  const [, first = "", text = ""] =
    /^## (.*)\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? [];
  if (first.split(" ")[0] !== version) return [`CHANGELOG.md: the first entry is not ${version}`];
  return /^- /m.test(text) ? [] : [`CHANGELOG.md: the entry of ${version} is empty`];
}

function pendingSteps(version: string, { changelog, changes, tags }: ReleaseFiles): string[] {
  const heading = changelog.split("\n").find((line) => line.startsWith(`## ${version}`)) ?? "";
  return [
    ...(/\d{4}-\d{2}-\d{2}/.test(heading) ? [] : [`CHANGELOG.md: ${version} has no date yet`]),
    ...(changes.trim() === "" ? [] : ["there are changes that are not committed"]),
    ...(tags.split("\n").includes(`v${version}`) ? [`the tag v${version} exists already`] : []),
  ];
}
