declare module "tail-file" {
  import type { EventEmitter } from "node:events";

  interface TailOptions {
    readonly encoding?: BufferEncoding;
    readonly sep?: string | RegExp;
    /** In characters of the encoding. */
    readonly startPos?: number;
    readonly _bufsize?: number;
  }

  export default class Tail extends EventEmitter {
    constructor(path: string, options: TailOptions);
    /** Resolves when the file is open, and rejects when it can't be. */
    startP(): Promise<true>;
    stop(): Promise<true>;
    /** Checks for new lines. */
    checkDir(type: string, name: string): void;
    setCharPos(position: number): void;
    setBytePos(position: number): void;
  }
}
