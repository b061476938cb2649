import { showDuration } from '../format/show-time.ts'
import type { BandKind, Timeline } from './timeline.ts'

const LOOKS: Record<BandKind, { look: string; word: string }> = {
  run: { look: 'bg-good-bar', word: 'ran' },
  dark: { look: 'hatched', word: 'silent' },
  wait: { look: 'dotted', word: 'waited' },
}

/** A chart; the list of attempts below has the same data as text. */
export function TimelineChart({ timeline }: { timeline: Timeline }) {
  const length = timeline.endMs - timeline.startMs
  return (
    <figure>
      <div
        className="flex flex-col gap-1.5"
        role="img"
        aria-label={`${timeline.lanes.length} attempts over ${showDuration(length)}`}
      >
        {timeline.lanes.map(({ attempt, bands }) => (
          <div key={attempt.attempt} className="grid grid-cols-[3.5rem_1fr] items-center gap-2">
            <span className="text-xs text-soft">try {attempt.attempt}</span>
            <span className="relative block h-5 rounded bg-raised/60">
              {bands.map(({ kind, from, to, ms }) => (
                <span
                  key={kind}
                  title={`${LOOKS[kind].word} ${showDuration(ms)}`}
                  className={`absolute inset-y-0 min-w-[3px] rounded-[3px] ${LOOKS[kind].look}`}
                  style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
                />
              ))}
              {timeline.marks.map(({ share, event, text }) => (
                <span
                  key={event.id}
                  title={text}
                  className="absolute -inset-y-0.5 w-0.5 bg-info"
                  style={{ left: `${share * 100}%` }}
                />
              ))}
            </span>
          </div>
        ))}
        <div className="grid grid-cols-[3.5rem_1fr] gap-2 text-[11px] text-soft">
          <span />
          <span className="flex justify-between">
            {[0, 0.25, 0.5, 0.75, 1].map((share) => (
              <span key={share}>{share === 0 ? '0' : showDuration(length * share)}</span>
            ))}
          </span>
        </div>
      </div>
      <figcaption className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-xs text-soft">
        {Object.entries(LOOKS).map(([kind, { look, word }]) => (
          <span key={kind} className="flex items-center gap-1.5">
            <span
              aria-hidden="true"
              className={`inline-block h-3 w-6 rounded-[3px] border border-line ${look}`}
            />
            {word}
          </span>
        ))}
        <span className="flex items-center gap-1.5">
          <span aria-hidden="true" className="inline-block h-3 w-0.5 bg-info" /> manual change
        </span>
      </figcaption>
    </figure>
  )
}
