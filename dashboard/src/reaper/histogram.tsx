import { showDuration } from '../format/show-time.ts'

const BINS = 24
const WIDTH = 720
const HEIGHT = 180
/** The drawing shrinks to half on a phone. */
const LABEL = 'text-[12px] max-sm:text-[22px]'

export interface HistogramWords {
  sentence: (p95: string, promise: string | null) => string
  p95: string
  promise: string
}

interface HistogramProps {
  values: number[]
  promiseMs: number | null
  p95Ms: number
  words: HistogramWords
}

/** Rescue lateness, with lines at the promise and the 95th percentile. */
export function Histogram({ values, promiseMs, p95Ms, words }: HistogramProps) {
  const end = Math.max(...values, promiseMs ?? 0, 1_000) * 1.1
  const counts = Array.from(
    { length: BINS },
    (_, bin) => values.filter((value) => Math.min(BINS - 1, Math.floor((value / end) * BINS)) === bin).length,
  )
  const most = Math.max(...counts, 1)
  const x = (ms: number) => (ms / end) * WIDTH
  const sentence = words.sentence(showDuration(p95Ms), promiseMs === null ? null : showDuration(promiseMs))
  return (
    <figure>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 28}`} className="w-full" role="img" aria-label={sentence}>
        {counts.map((count, bin) => {
          const height = (count / most) * (HEIGHT - 46)
          return (
            <rect
              key={bin}
              x={(bin * WIDTH) / BINS + 1}
              y={HEIGHT - height}
              width={WIDTH / BINS - 2}
              height={height}
              rx="2"
              className="fill-info-bar"
            />
          )
        })}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="stroke-line" />
        {promiseMs === null ? null : (
          <Mark x={x(promiseMs)} text={`${words.promise} ${showDuration(promiseMs)}`} look="stroke-bad-bar" />
        )}
        <Mark x={x(p95Ms)} text={`${words.p95} ${showDuration(p95Ms)}`} look="stroke-good-bar" isLower />
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <text
            key={share}
            x={share * WIDTH}
            y={HEIGHT + 22}
            textAnchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}
            className={`fill-soft ${LABEL} ${share === 0.25 || share === 0.75 ? 'max-sm:hidden' : ''}`}
          >
            {share === 0 ? '0' : showDuration(end * share)}
          </text>
        ))}
      </svg>
      <figcaption className="mt-1 text-soft">{sentence}</figcaption>
    </figure>
  )
}

function Mark({
  x,
  text,
  look,
  isLower = false,
}: {
  x: number
  text: string
  look: string
  isLower?: boolean
}) {
  const isRight = x > WIDTH * 0.7
  return (
    <>
      <line
        x1={x}
        x2={x}
        y1={isLower ? 22 : 4}
        y2={HEIGHT}
        strokeWidth="2"
        strokeDasharray="5 4"
        className={look}
      />
      <text
        x={x + (isRight ? -6 : 6)}
        y={isLower ? 24 : 2}
        dominantBaseline="hanging"
        textAnchor={isRight ? 'end' : 'start'}
        className={`fill-ink ${LABEL}`}
      >
        {text}
      </text>
    </>
  )
}
