import { describe, expect, test } from "vitest";
import {
  isBare,
  isOneStage,
  joinDockerfiles,
  mapDockerfile,
} from "../../../src/cli/import/dockerfile.ts";

function mapped(...lines: readonly string[]) {
  const { text, remarks } = mapDockerfile("agents/dev/Dockerfile", lines.join("\n"));
  return { lines: text.split("\n"), remarks };
}

const install = (packages: string) =>
  `apt-get update && apt-get install -y --no-install-recommends ${packages} && rm -rf /var/lib/apt/lists/*`;

describe("an imported Dockerfile", () => {
  test("installs by apt-get what apk added, under Debian's names", () => {
    const { lines, remarks } = mapped(
      "FROM al-agent:latest",
      "RUN apk add --no-cache github-cli py3-pip jq",
    );
    expect(lines[1]).toBe(`RUN ${install("gh python3-pip jq")}`);
    expect(remarks).toMatchObject([{ kind: "note", line: 2 }]);
  });

  test("keeps the commands around, also over several lines", () => {
    const { lines } = mapped(
      "FROM al-agent:latest",
      "RUN set -e; apk --no-cache add \\",
      "      git \\",
      "      openssh-client && \\",
      "    git --version",
    );
    expect(lines.slice(1)).toEqual([
      `RUN set -e; ${install("git openssh-client")} && \\`,
      "    git --version",
    ]);
  });

  test("asks to look at packages that Debian may call otherwise, and drops versions", () => {
    const { lines, remarks } = mapped("FROM al-agent:latest", "RUN apk add 'bat' terraform=1.5-r0");
    expect(lines[1]).toContain("terraform");
    expect(lines[1]).not.toContain("1.5-r0");
    expect(remarks).toMatchObject([
      { kind: "edit", line: 2, message: expect.stringContaining("terraform") as string },
    ]);
  });

  test("installs nothing that the base has", () => {
    expect(mapped("FROM al-agent:latest", "RUN apk add nodejs npm && npm -v").lines[1]).toBe(
      "RUN true && npm -v",
    );
  });

  test("leaves what it can't write, and says what to write", () => {
    const line = "RUN apk add --virtual .build gcc && apk del .build";
    const { lines, remarks } = mapped("FROM al-agent:latest", line);
    expect(lines[1]).toBe(line);
    expect(remarks).toMatchObject([
      { kind: "edit", line: 2, fix: expect.stringContaining("apt-get install") as string },
      { kind: "edit", line: 2 },
    ]);
  });

  test("leaves comments", () => {
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
  ])("%s becomes %s", (from, to) => expect(mapped(from).lines[0]).toBe(to));

  test("of its own base is put on ours, without their program", () => {
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
    expect(remarks.map(({ kind, line }) => [kind, line])).toEqual([
      ["note", 3],
      ["note", 5],
      ["note", 6],
      ["edit", 7],
    ]);
  });
});

describe("the Dockerfile of a project", () => {
  const project = "# ours\nFROM al-agent:latest\nRUN one\n";

  test("stands behind the last FROM of each agent's, or is an agent's own", () => {
    expect(
      joinDockerfiles(project, "FROM golang AS build\nFROM al-agent:latest\nRUN two\n"),
    ).toMatch(/^FROM golang AS build\nFROM al-agent:latest\n\n# .+\nRUN one\n\nRUN two\n$/);
    expect(joinDockerfiles(project, null)).toBe("FROM al-agent:latest\n\nRUN one\n");
  });

  test("counts only when it adds something, and joins only when it has one stage", () => {
    expect(isBare("FROM al-agent:latest\n\n# nothing\n")).toBe(true);
    expect(isBare(project)).toBe(false);
    expect(isOneStage(project)).toBe(true);
    expect(isOneStage("FROM a AS b\nFROM al-agent\n")).toBe(false);
  });
});
