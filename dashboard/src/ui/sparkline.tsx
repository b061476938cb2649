import { showCount } from '../format/show-time.ts'

const WIDTH = 120
const HEIGHT = 24

interface SparklineProps {
  /** `completed per minute` */
  name: string
  /** Oldest first. */
  values: number[]
  /** Colours of the line and of the area below it. */
  look?: string
  size?: string
}

/** A line of counts. The label says what a reader of the picture sees: the last value, the highest and the sum. */
export function Sparkline({
  name,
  values,
  look = 'stroke-good-bar fill-good-bar',
  size = 'h-6',
}: SparklineProps) {
  const most = Math.max(1, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values
    .map(
      (value, nth) => `${(nth * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
    )
    .join(' ')
  const sum = values.reduce((all, value) => all + value, 0)
  const label = `${name}: last ${showCount(values.at(-1) ?? 0)}, highest ${showCount(Math.max(0, ...values))}, in all ${showCount(sum)}`
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={`${size} w-full min-w-20`}
    >
      <title>{label}</title>
      <polygon
        points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`}
        strokeOpacity="0"
        fillOpacity="0.14"
        className={look}
      />
      <polyline
        points={points}
        fillOpacity="0"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
        className={look}
      />
    </svg>
  )
}
