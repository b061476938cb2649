import type { RateLimit } from '../../../src/http/contract/index.ts'
import { useRateLimits } from '../api/queries.ts'
import { plural, showCount, showDuration } from '../format/show-time.ts'
import { Panel, Read } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { barOf, type Tone } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { leftShare, type RateView, rateViews } from './rate-views.ts'

const TOP_OWNERS = 5

export function RateGauges() {
  const limits = useRateLimits()
  if (useRefusal()('listRateLimits') !== null) return null
  return (
    <Panel title="Rate limits" aside="tokens left; a job without a token waits and spends no attempt">
      <Read what="The rate limits" from={limits}>
        {({ rate_limits }) =>
          rate_limits.length === 0 ? (
            <p className="text-soft">No limit was used in the last hour.</p>
          ) : (
            <ul className="grid gap-x-10 gap-y-5 lg:grid-cols-[repeat(auto-fit,minmax(26rem,1fr))]">
              {rateViews(rate_limits).map((view) => (
                <Limit key={view.name} view={view} />
              ))}
            </ul>
          )
        }
      </Read>
    </Panel>
  )
}

function Limit({ view: { name, shared, owners } }: { view: RateView }) {
  const shown = owners.slice(0, TOP_OWNERS)
  return (
    <li className="flex flex-col gap-2">
      <h3 className="flex items-baseline gap-2 font-mono text-xs font-semibold">
        {name}
        {shared === null ? null : (
          <span className="ml-auto font-sans font-normal text-soft">
            used <Time at={shared.used_at} isRelative />
          </span>
        )}
      </h3>
      {shared === null ? null : <Gauge limit={shared} label="all" />}
      {shown.map((limit) => (
        <Gauge key={limit.key} limit={limit} label={limit.owner ?? ''} />
      ))}
      {owners.length > shown.length ? (
        <p className="text-xs text-soft">
          and {plural(owners.length - shown.length, 'owner')} with more left
        </p>
      ) : null}
    </li>
  )
}

function Gauge({ limit, label }: { limit: RateLimit; label: string }) {
  const share = leftShare(limit)
  const tone: Tone = share === null ? 'quiet' : share === 0 ? 'bad' : share < 0.25 ? 'warn' : 'good'
  const { tokens, burst, rate_per_s, next_token_in_ms } = limit
  const refill = rate_per_s === null ? '' : `, ${showCount(rate_per_s)}/s`
  const next = tokens === 0 && next_token_in_ms !== null ? `, next in ${showDuration(next_token_in_ms)}` : ''
  return (
    <div className="grid grid-cols-[6rem_minmax(2rem,1fr)] items-center gap-x-3 sm:grid-cols-[7rem_minmax(3rem,1fr)_12rem]">
      <span className="truncate" title={label}>
        {label}
      </span>
      <span className="block h-2 overflow-hidden rounded-full bg-raised">
        <span
          className={`block h-full rounded-full ${barOf[tone]}`}
          style={{ width: `${(share ?? 0) * 100}%` }}
        />
      </span>
      <span className="text-xs text-soft max-sm:col-start-2 sm:text-right">
        {tokens === null || burst === null
          ? 'limit not known yet'
          : `${showCount(tokens)} of ${showCount(burst)}${refill}${next}`}
      </span>
    </div>
  )
}
