/** The image that the last stage of a Dockerfile is built on, with the line of its FROM, from 1. */
export interface DockerfileBase {
  readonly line: number;
  readonly image: string;
}

const from = /^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?/gim;

/** Null without a FROM. Stages may be built on earlier ones. */
export function dockerfileBase(text: string): DockerfileBase | null {
  const stages = new Map<string, string>();
  let last: DockerfileBase | null = null;
  for (const { index, 1: name = "", 2: stage } of text.matchAll(from)) {
    const image = stages.get(name.toLowerCase()) ?? name;
    if (stage !== undefined) stages.set(stage.toLowerCase(), image);
    last = { line: text.slice(0, index).split("\n").length, image };
  }
  return last;
}
