import { RequestProblem } from '../api/client.ts'
import { reconnect } from '../api/live.ts'
import { useTableLive } from '../shell/use-table-live.ts'
import { Broken, Empty, Loading, Page } from '../ui/page.tsx'
import { BreakerCard } from './breaker-card.tsx'
import { RateGauges } from './rate-gauges.tsx'

export function DependenciesPage() {
  const { breakers, queues, connection } = useTableLive()
  return (
    <Page title="Dependencies" lead="While a dependency fails, its jobs wait without spending attempts.">
      {breakers === null ? (
        connection === 'lost' ? (
          <Broken
            what="The dependencies"
            error={new RequestProblem(0, { detail: 'The server does not answer.' })}
            retry={reconnect}
          />
        ) : (
          <Loading what="dependencies" />
        )
      ) : breakers.length === 0 ? (
        <div className="panel">
          <Empty title="No dependencies yet.">
            A handler with the option <code className="font-mono text-xs">dependency</code> gets a breaker of
            its own.
          </Empty>
        </div>
      ) : (
        <ul className="grid gap-4 xl:grid-cols-2">
          {breakers.map((breaker) => (
            <li key={breaker.name}>
              <BreakerCard breaker={breaker} queues={queues ?? []} />
            </li>
          ))}
        </ul>
      )}
      <RateGauges />
    </Page>
  )
}
