/** The part of tail-file 1.4 that is used here; the package has no types of its own. */
declare module "tail-file" {
  import type { EventEmitter } from "node:events";

  class Tail extends EventEmitter<{ line: [line: string]; error: [error: unknown] }> {
    /** Any member may be given as an option, methods too. */
    constructor(filename: string, options: Readonly<Record<string, unknown>>);
    /** What was read of a line whose end has not come yet. */
    txt: string;
    /** Follows the file from `pos` on. */
    startTail(filename: string): void;
    /** Tells it that the directory changed: it reads what is new. */
    checkDir(type: string, name: string): void;
    /** Takes the next line out of `txt`, or reads on when there is none. */
    getLine(): void;
    /** Nothing more is there by now. */
    onEndOfFile(): void;
    /** Stops without waiting for a read that is under way. */
    _stop(): void;
  }
  export = Tail;
}
