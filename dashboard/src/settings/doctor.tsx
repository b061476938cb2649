import type { DoctorAnswer } from '../../../src/http/contract/index.ts'
import { useDoctor } from '../api/queries.ts'
import { plural } from '../format/show-time.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Command, Empty, Page, Panel, Read } from '../ui/page.tsx'
import type { Tone } from '../ui/tone.ts'

type Finding = DoctorAnswer['findings'][number]

const LEVELS: Record<Finding['level'], { tone: Tone; sign: string; order: number }> = {
  problem: { tone: 'bad', sign: '✕', order: 0 },
  warning: { tone: 'warn', sign: '!', order: 1 },
  fine: { tone: 'good', sign: '✓', order: 2 },
}

export function DoctorPage() {
  const answer = useDoctor()
  return (
    <Page
      title="Doctor"
      lead="Checks the installation, the tables and the server. Read-only."
      actions={
        <Button isBusy={answer.isFetching} onClick={() => void answer.refetch()}>
          Run again
        </Button>
      }
    >
      <Read what="The findings" from={answer}>
        {({ problems, warnings, findings }) => (
          <Panel
            title={`${plural(problems, 'problem')}, ${plural(warnings, 'warning')}`}
            aside={`${plural(findings.length, 'check')}`}
          >
            {findings.length === 0 ? (
              <Empty title="No findings." />
            ) : (
              <ul className="-my-2.5 flex flex-col divide-y divide-line">
                {findings
                  .toSorted((a, b) => LEVELS[a.level].order - LEVELS[b.level].order)
                  .map((finding) => (
                    <Line key={finding.check + finding.message} finding={finding} />
                  ))}
              </ul>
            )}
          </Panel>
        )}
      </Read>
    </Page>
  )
}

function Line({ finding: { check, level, message, fix } }: { finding: Finding }) {
  const { tone, sign } = LEVELS[level]
  return (
    <li className="grid items-start gap-x-4 gap-y-1 py-2.5 md:grid-cols-[6.5rem_11rem_minmax(0,1fr)]">
      <span>
        <Badge tone={tone}>
          <span aria-hidden="true">{sign}</span>
          {level}
        </Badge>
      </span>
      <code className="font-mono text-xs leading-5 font-semibold">{check}</code>
      <div className="flex min-w-0 flex-col items-start gap-1.5">
        <p className="wrap-anywhere">{message}</p>
        {fix === null ? null : <Command>{fix}</Command>}
      </div>
    </li>
  )
}
