import { createHmac } from "node:crypto";
import { isSameSecret } from "../../foundation/contracts/request-limit.ts";
import type { Question } from "../../foundation/contracts/questions.ts";

type Asked = Pick<Question, "id" | "until">;

const idBytes = 16;
/** 128 bits can't be guessed, and keep a link short. */
const macBytes = 16;

/**
 * Links that answer one question without a login. The token of a link has the question's id and the alert target that the
 * link is sent to, signed with a secret of the project. It is as valid as its question: the signature covers `until`, and
 * the engine of questions accepts one answer. `find` reads a stored question.
 */
export function createAnswerLinks(secret: string, find: (id: string) => Asked | null) {
  const tokenOf = ({ id, until }: Asked, target: string): string => {
    const [idPart, name] = [bytesOf(id), Buffer.from(target)];
    const mac = createHmac("sha256", secret).update(`answer link ${until} `).update(idPart);
    const signature = mac.update(name).digest().subarray(0, macBytes);
    return Buffer.concat([idPart, signature, name]).toString("base64url");
  };
  return {
    /** The path of the page on which the people behind an alert target answer. */
    pathOf: (question: Asked, target: string): string => `/answer/${tokenOf(question, target)}`,
    /** The question and the target of a token; null if it is forged, or if its question is no longer stored. */
    read: (token: string): { readonly questionId: string; readonly target: string } | null => {
      const bytes = Buffer.from(token, "base64url");
      if (bytes.length < idBytes + macBytes) return null;
      const questionId = uuidOf(bytes.subarray(0, idBytes));
      const target = bytes.subarray(idBytes + macBytes).toString();
      const question = find(questionId);
      if (question === null || !isSameSecret(token, tokenOf(question, target))) return null;
      return { questionId, target };
    },
  };
}

export type AnswerLinks = ReturnType<typeof createAnswerLinks>;

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
