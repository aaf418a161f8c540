import { percent } from "../text/format.ts";

/** A bar of a drawing. */
export interface Bar {
  readonly key: string;
  readonly class: string;
  /** Null is drawn like zero. */
  readonly value: number | null;
  /** Shown at the pointer. */
  readonly title: string;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** The width of a bar as a share of its place, if there are at least `places` bars; fewer leave room on the right. */
  readonly places?: number;
  readonly height: number;
  readonly label: string;
}

/** Height of a zero, so that each bar is visible. */
const leastHeight = 1.5;

/** A drawing of values as bars, each as high as its share of the largest. */
export function Bars({ bars, places = 1, height, label }: BarsProps) {
  const most = Math.max(0, ...bars.map(({ value }) => value ?? 0));
  return (
    <svg class="bars" role="img" height={height} aria-label={label}>
      {bars.map(({ key, value, title, ...bar }, index) => {
        const share = most === 0 ? 0 : (value ?? 0) / most;
        const high = Math.max(share * height, leastHeight);
        return (
          <rect
            key={key}
            class={bar.class}
            x={percent((index + 0.1) / bars.length)}
            width={percent(0.8 / Math.max(bars.length, places))}
            y={height - high}
            height={high}
          >
            <title>{title}</title>
          </rect>
        );
      })}
    </svg>
  );
}
