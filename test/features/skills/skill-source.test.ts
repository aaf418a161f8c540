import {
  parseSkillSource,
  repositoryName,
  skillSourceText,
} from "../../../src/features/skills/skill-source.ts";

const parse = (text: string) => parseSkillSource(text, "/work");

test.each([
  ["acme/skills", "https://github.com/acme/skills.git", "skills"],
  ["acme/skills.git", "https://github.com/acme/skills.git", "skills"],
  ["https://example.com/a/skills.git", "https://example.com/a/skills.git", "skills"],
  ["ssh://git@example.com/a/tools", "ssh://git@example.com/a/tools", "tools"],
  ["git@example.com:a/tools.git", "git@example.com:a/tools.git", "tools"],
  ["git@example.com:tools", "git@example.com:tools", "tools"],
  ["file:///srv/skills", "file:///srv/skills", "skills"],
  ["./my-skills", "file:///work/my-skills", "my-skills"],
  ["..", "file:///", ""],
  ["/srv/skills/", "file:///srv/skills", "skills"],
])("the skill source %s is fetched from %s", (text, url, name) => {
  const source = parse(text);
  expect(source).toMatchObject({ url, skill: null });
  expect(repositoryName(source)).toBe(name);
});

test('the part of a skill source after "#" selects one of several skills', () => {
  const source = parse("acme/skills#triage");
  expect(source).toMatchObject({ repository: "acme/skills", skill: "triage" });
  expect(skillSourceText(source, source.skill)).toBe("acme/skills#triage");
  expect(skillSourceText(source, null)).toBe("acme/skills");
});

test("a skill source is stored as typed, but a directory as a URL", () =>
  expect(parse("./x").repository).toBe("file:///work/x"));

test.each([
  "",
  "-oProxyCommand=touch /tmp/pwned",
  "--upload-pack=touch",
  "ext::sh -c touch",
  "fd::17",
  "http://example.com/skills",
  "git://example.com/skills",
  "transport::https://example.com/x",
  "ssh://-oProxyCommand=evil/x",
  "-evil@example.com:x",
  "git@-example.com:x",
  "git@example.com:-x",
  "https://user:secret@example.com/skills",
  "https://token@example.com/skills",
  "skills",
  "a/b/c",
  "acme/skills\n--evil",
  "acme/ skills",
])("the skill source %j is rejected as a usage error", (text) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test("a skill source that contains a secret is rejected without repeating the secret", () =>
  expect(() => parse("https://user:hunter2@example.com/x")).not.toThrow("hunter2"));
