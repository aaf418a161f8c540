import {
  isBare,
  isOneStage,
  joinDockerfiles,
  translateDockerfile,
} from "../../../../src/interfaces/cli/import/plan-agent.ts";

/** A translated Dockerfile, and the lines that are left to do. */
function translated(text: string) {
  const { text: written, remarks } = translateDockerfile("agents/dev/Dockerfile", text);
  return { written, remarks: remarks.map(({ line, fix }) => [line, fix]) };
}

test("an imported Dockerfile keeps apk and comments, and names each line of apk with its Debian form", () => {
  const text =
    "FROM al-agent:latest\n#   RUN apk add python3\nRUN set -e; apk --no-cache add \\\n      git";
  expect(translated(text)).toEqual({
    written: text,
    remarks: [[3, expect.stringContaining("apt-get install")]],
  });
});

test.each([
  ["FROM al-agent", "FROM al-agent:latest"],
  ["FROM al-project-base:latest", "FROM al-agent:latest"],
  [
    "FROM --platform=linux/amd64 node:20-alpine AS run",
    "FROM --platform=linux/amd64 al-agent:latest AS run",
  ],
])("an imported Dockerfile: %s becomes %s", (from, to) =>
  expect(translated(from).written).toBe(to),
);

test("an imported Dockerfile with its own base is rebased on the default image, without the old program", () => {
  const text = `FROM golang:1 AS build
RUN go build -o /tool
FROM node:20-alpine
COPY --from=build /tool /usr/local/bin/tool
COPY --from=al-agent:latest /app /app
ENTRYPOINT ["node", "/app/dist/agents/container-entry.js"]
COPY rc /home/node/.rc
USER node`;
  expect(translated(text)).toEqual({
    written: text
      .replace("node:20-alpine", "al-agent:latest")
      .replace("COPY --from=al", "# COPY --from=al")
      .replace("ENTRYPOINT", "# ENTRYPOINT")
      .replace("USER node", "USER al"),
    remarks: [
      [3, null],
      [5, null],
      [6, null],
      [7, "COPY rc /home/al/.rc"],
    ],
  });
});

const project = "# ours\nFROM al-agent:latest\nRUN one\n";

test("the project's Dockerfile in an import is appended to the last FROM of each agent's, or becomes an agent's own", () => {
  expect(joinDockerfiles(project, "FROM golang AS build\nFROM al-agent:latest\nRUN two\n")).toMatch(
    /^FROM golang AS build\nFROM al-agent:latest\n\n# .+\nRUN one\n\nRUN two\n$/,
  );
  expect(joinDockerfiles(project, null)).toBe("FROM al-agent:latest\n\nRUN one\n");
});

test("the project's Dockerfile in an import is used only if it adds something, and merged only if it has one stage", () => {
  expect(["FROM al-agent:latest\n\n# nothing\n", project].map(isBare)).toEqual([true, false]);
  expect([project, "FROM a AS b\nFROM al-agent\n"].map(isOneStage)).toEqual([true, false]);
});
