/** What a part of a Dockerfile loads from a network when it is built. */
const commands: readonly (readonly [RegExp, string])[] = [
  [/\bapt(-get)?\b[^;&|]*\s(install|update|upgrade)\b/, "packages by apt"],
  [/\bapk\b[^;&|]*\s(add|update|upgrade)\b/, "packages by apk"],
  [/\b(dnf|yum|microdnf)\b[^;&|]*\s(install|update)\b/, "packages by dnf"],
  [/\b(npm|pnpm|yarn)\b[^;&|]*\s(install|i|ci|add)\b|\bnpx\s/, "packages by npm"],
  [/\b(pip3?|uv|pipx)\b[^;&|]*\s(install|sync|add)\b/, "packages by pip"],
  [/\bgo\s+(install|get|mod\s+download)\b/, "modules by go"],
  [/\bcargo\s+(install|fetch|build)\b/, "crates by cargo"],
  [/\bgem\s+install\b|\bbundle\s+install\b/, "packages by gem"],
  [/\b(curl|wget)\b/, "files by curl or wget"],
  [/\bgit\s+(clone|fetch|pull|submodule)\b/, "repositories by git"],
];

/** For a RUN instruction, or the commands of one. */
export function fetchesOfCommand(command: string): readonly string[] {
  // The form `["npm", "ci"]` has the same words.
  const words = command.replace(/["',[\]]+/g, " ");
  return commands.filter(([pattern]) => pattern.test(words)).map(([, what]) => what);
}

/** For an ADD instruction. */
export function fetchesOfAdd(sources: string): readonly string[] {
  const urls = sources.match(/\b(?:https?:\/\/|git@)[^\s"]+/g) ?? [];
  return urls.map((url) => url.slice(0, 100));
}
