import { z } from "zod";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { logEntrySchema } from "../../../streams/status/wire.ts";
import type { LogLevel } from "../../../streams/vocabulary.ts";

/** The levels that a log can be filtered by, with pino's numbers: lines of this level and above are shown. */
export const logLevels = { debug: 10, info: 30, warn: 40, error: 50 } as const satisfies Readonly<
  Record<string, LogLevel>
>;
export const logLevelNames = ["debug", "info", "warn", "error"] as const;

const position = nullableText;

/** A part of an agent's log on the wire. A position is a place between two lines: `<log file>:<byte offset>`. */
export const logPageSchema = z
  .object({
    lines: z
      .array(
        z.object({
          position: z.string().meta({ description: "The position after this line" }),
          entry: logEntrySchema,
        }),
      )
      .meta({ description: "The matching lines, oldest first" }),
    older: position.meta({
      description: "The value of `before` for the page before this one; null at the beginning",
    }),
    newer: position.meta({
      description: "Value for `after`, or to follow the log stream from; null for an empty log",
    }),
    atEnd: z.boolean().meta({ description: "Whether the log ended at `newer`" }),
    reachedAt: z
      .number()
      .nullable()
      .meta({ description: "Time of the farthest line that was read, epoch ms" }),
  })
  .meta({ id: "LogPage" });
export type LogPageAnswer = z.infer<typeof logPageSchema>;
