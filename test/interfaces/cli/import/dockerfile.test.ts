import {
  isBare,
  isOneStage,
  joinDockerfiles,
  translateDockerfile,
} from "../../../../src/interfaces/cli/import/plan-agent.ts";

function mapped(...lines: readonly string[]) {
  const { text, remarks } = translateDockerfile("agents/dev/Dockerfile", lines.join("\n"));
  return { lines: text.split("\n"), remarks };
}

test("an imported Dockerfile keeps apk, and names each line with its Debian form", () => {
  const lines = ["FROM al-agent:latest", "RUN set -e; apk --no-cache add \\", "      git"];
  const { lines: written, remarks } = mapped(...lines);
  expect(written).toEqual(lines);
  expect(remarks).toMatchObject([
    { line: 2, fix: expect.stringContaining("apt-get install") as string },
  ]);
});

test("an imported Dockerfile leaves comments", () => {
  const text = ["FROM al-agent:latest", "#   RUN apk add --no-cache python3"];
  expect(mapped(...text)).toEqual({ lines: text, remarks: [] });
});

test.each([
  ["FROM al-agent", "FROM al-agent:latest"],
  ["FROM al-project-base:latest", "FROM al-agent:latest"],
  [
    "FROM --platform=linux/amd64 node:20-alpine AS run",
    "FROM --platform=linux/amd64 al-agent:latest AS run",
  ],
])("an imported Dockerfile: %s becomes %s", (from, to) => expect(mapped(from).lines[0]).toBe(to));

test("an imported Dockerfile with its own base is rebased on the default image, without the old program", () => {
  const { lines, remarks } = mapped(
    "FROM golang:1 AS build",
    "RUN go build -o /tool",
    "FROM node:20-alpine",
    "COPY --from=build /tool /usr/local/bin/tool",
    "COPY --from=al-agent:latest /app /app",
    'ENTRYPOINT ["node", "/app/dist/agents/container-entry.js"]',
    "COPY rc /home/node/.rc",
    "USER node",
  );
  expect(lines).toEqual([
    "FROM golang:1 AS build",
    "RUN go build -o /tool",
    "FROM al-agent:latest",
    "COPY --from=build /tool /usr/local/bin/tool",
    "# COPY --from=al-agent:latest /app /app",
    '# ENTRYPOINT ["node", "/app/dist/agents/container-entry.js"]',
    "COPY rc /home/node/.rc",
    "USER al",
  ]);
  expect(remarks.map(({ line, fix }) => [line, fix])).toEqual([
    [3, null],
    [5, null],
    [6, null],
    [7, "COPY rc /home/al/.rc"],
  ]);
});

const project = "# ours\nFROM al-agent:latest\nRUN one\n";

test("the project's Dockerfile in an import is appended to the last FROM of each agent's, or becomes an agent's own", () => {
  expect(joinDockerfiles(project, "FROM golang AS build\nFROM al-agent:latest\nRUN two\n")).toMatch(
    /^FROM golang AS build\nFROM al-agent:latest\n\n# .+\nRUN one\n\nRUN two\n$/,
  );
  expect(joinDockerfiles(project, null)).toBe("FROM al-agent:latest\n\nRUN one\n");
});

test("the project's Dockerfile in an import is used only if it adds something, and merged only if it has one stage", () => {
  expect(isBare("FROM al-agent:latest\n\n# nothing\n")).toBe(true);
  expect(isBare(project)).toBe(false);
  expect(isOneStage(project)).toBe(true);
  expect(isOneStage("FROM a AS b\nFROM al-agent\n")).toBe(false);
});
