import type { WhyAnswer } from '../../../src/http/contract/index.ts'
import { showDuration } from '../format/show-time.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'
import { Badge } from '../ui/badge.tsx'
import { type Tone, washOf } from '../ui/tone.ts'

const LOOKS: Record<WhyAnswer['verdict'], { tone: Tone; word: string }> = {
  ended: { tone: 'quiet', word: 'ended' },
  running: { tone: 'good', word: 'running' },
  overdue: { tone: 'bad', word: 'overdue' },
  blocked: { tone: 'warn', word: 'blocked' },
  runnable: { tone: 'info', word: 'runnable' },
}

/** One sentence, then all reasons, blocking ones first. */
export function WhyPanel({ why }: { why: WhyAnswer }) {
  const { tone, word } = LOOKS[why.verdict]
  const reasons = why.reasons.toSorted((a, b) => Number(b.is_blocking) - Number(a.is_blocking))
  return (
    <section
      data-why
      tabIndex={-1}
      aria-label="Why"
      className={`rounded-[10px] border border-line ${washOf[tone]} px-4 py-3`}
    >
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-sm font-semibold">
          {why.verdict === 'ended'
            ? 'What happened'
            : why.verdict === 'running'
              ? 'Current state'
              : 'Why is it not running?'}
        </h2>
        <Badge tone={tone}>{word}</Badge>
        {why.runs_in_ms !== null && why.runs_in_ms > 0 ? (
          <span className="text-xs">runs in about {showDuration(why.runs_in_ms)}</span>
        ) : null}
      </div>
      <p className="mt-1 text-base text-ink">{why.sentence}</p>
      {reasons.length === 0 ? null : (
        <ul className="mt-2 flex flex-col gap-1 text-ink">
          {reasons.map(({ code, message, is_blocking, until_ms, remedy }) => (
            <li key={code + message} className="flex flex-wrap items-center gap-x-2">
              <span aria-hidden="true" className={is_blocking ? '' : 'opacity-60'}>
                {is_blocking ? '■' : '□'}
              </span>
              <code className="font-mono text-xs font-semibold">{code}</code>
              <span>{message}</span>
              {until_ms === null || until_ms <= 0 ? null : (
                <span className="text-xs">for {showDuration(until_ms)} more</span>
              )}
              {remedy === null ? null : (
                <span className="ml-auto">
                  <RemedyButton remedy={remedy} table={why.table} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
