import { z } from "zod";
import { placeOf } from "../../../features/memory/memory-place.ts";
import {
  memoriesSchema,
  memorySchema,
  memoryVersionSchema,
} from "../../../features/memory/memory-views.ts";
import { labelled, optionalText, readsOnly, tool } from "../tool.ts";

const summary = memoriesSchema.shape.memories.unwrap().unwrap();

const memoryRow = labelled(
  memorySchema,
  ["name", "version", "bytes", "limits", "shared", "proposals"],
  ["files", "conflicts", "notKept"],
);
const versionRow = labelled(
  memoryVersionSchema,
  ["n", "at", "instanceId", "by", "bytes"],
  ["changes", "conflicts"],
);
const textRow = labelled(z.object({ text: optionalText }), [], ["text"]);
const partLength = 15_000;

export const memory = tool({
  title: "Show what agents remember",
  description:
    "All memories; or one with its files and latest versions; with `path`, a file in parts; with `version`, what that version changed.",
  annotations: readsOnly,
  input: z.object({
    memory: z.string().min(1).optional().meta({
      description: "An agent's name, or `shared/<name>`",
    }),
    path: z.string().optional(),
    version: z.int().min(0).optional(),
    from: z.int().min(0).default(0),
  }),
  output: z.object({
    memories: z.array(summary).optional(),
    memory: memoryRow.schema.optional(),
    versions: z.array(versionRow.schema).optional(),
    content: textRow.schema.optional(),
    next: z.int().nullable().optional().meta({ description: "`from` of the text's next part" }),
  }),
  run: async ({ memory: asked, from, ...part }, api) => {
    if (asked === undefined) {
      const { memories } = await api.perform("GET /api/memories", {});
      return { memories: [...memories] };
    }
    const { at, name } = placeOf(asked);
    if (Object.values(part).every((one) => one === undefined)) {
      const found = await api.perform(`GET ${at}`, { name });
      const { versions } = await api.perform(`GET ${at}/versions`, { name, limit: 5 });
      return { memory: memoryRow.of(found), versions: versions.map(versionRow.of) };
    }
    const { path, version } = part;
    const { text } =
      path === undefined
        ? await api.perform(`GET ${at}/diff`, { name, to: version })
        : await api.perform(`GET ${at}/text`, { name, path, version });
    const rest = text?.slice(from) ?? null;
    const next = rest !== null && rest.length > partLength ? from + partLength : null;
    return { content: textRow.of({ text: rest && rest.slice(0, partLength) }), next };
  },
});
