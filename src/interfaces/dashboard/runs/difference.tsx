import { differenceLine } from "../../views/run-facts.ts";

interface DifferenceProps {
  readonly text: string;
  readonly id?: string;
  /** Leaves out the lines that name files. */
  readonly isBare?: boolean;
}

/** A difference of two texts, each line with the colour of its kind. */
export function Difference({ text, id, isBare = false }: DifferenceProps) {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = lines.filter(
    (line) => !isBare || !["file", "place"].includes(differenceLine(line)),
  );
  return (
    <pre class="changes" id={id} tabIndex={0} role="group" aria-label="Changes">
      {shown.map((line, index) => (
        <span class={differenceLine(line)} key={index}>
          {line}
        </span>
      ))}
    </pre>
  );
}
