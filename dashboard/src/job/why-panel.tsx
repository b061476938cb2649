import type { WhyAnswer } from '../../../src/http/contract/index.ts'
import { showDuration } from '../format/show-time.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'
import { Badge } from '../ui/badge.tsx'
import { edgeOf, type Tone, textOf } from '../ui/tone.ts'

const LOOKS: Record<WhyAnswer['verdict'], { tone: Tone; word: string }> = {
  ended: { tone: 'quiet', word: 'ended' },
  running: { tone: 'good', word: 'running' },
  overdue: { tone: 'bad', word: 'overdue' },
  blocked: { tone: 'warn', word: 'blocked' },
  runnable: { tone: 'info', word: 'runnable' },
}

/** One sentence, then all reasons, blocking ones first. The lease counts down in its own card: a second copy would differ. */
export function WhyPanel({ why }: { why: WhyAnswer }) {
  const { tone, word } = LOOKS[why.verdict]
  const reasons = why.reasons
    .filter(({ code }) => code !== 'LEASED')
    .toSorted((a, b) => Number(b.is_blocking) - Number(a.is_blocking))
  return (
    <section data-why tabIndex={-1} aria-label="Why" className={`panel border-l-4 px-4 py-3 ${edgeOf[tone]}`}>
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
      <p className="mt-1 text-lg font-medium text-ink">{why.sentence}</p>
      {reasons.length === 0 ? null : (
        <ul className="mt-3 flex flex-col divide-y divide-line border-t border-line text-ink">
          {reasons.map(({ code, message, is_blocking, until_ms, remedies }) => (
            <li key={code + message} className="flex min-h-11 flex-wrap items-center gap-x-2 gap-y-1 py-1.5">
              <span aria-hidden="true" className={is_blocking ? textOf[tone] : 'text-soft'}>
                {is_blocking ? '✕' : '·'}
              </span>
              <code className="font-mono text-xs font-semibold">{code}</code>
              <span className="min-w-[min(100%,24rem)] flex-1">
                {message}
                {until_ms === null || until_ms <= 0 ? null : (
                  <span className="ml-2 text-xs">for {showDuration(until_ms)} more</span>
                )}
              </span>
              {remedies.length === 0 ? null : (
                <span className="ml-auto flex flex-wrap gap-2">
                  {remedies.map((remedy, nth) => (
                    <RemedyButton key={remedy.act} remedy={remedy} table={why.table} isMain={nth === 0} />
                  ))}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
