// Bulk changes: a dry run counts the jobs, then the server changes them as one operation.
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Operation } from '../../../src/http/contract/index.ts'
import { messageOf } from '../api/client.ts'
import { beginOperation, useCommand } from '../api/commands.ts'
import { useConfig } from '../api/queries.ts'
import { plural } from '../format/show-time.ts'
import { showTotalOf, type Total, totalOf } from '../format/totals.ts'
import { useGo } from '../shell/address.tsx'
import { Button } from '../ui/button.tsx'
import { reasonOrDots } from '../ui/change-dialog.tsx'
import { CopyLine } from '../ui/copy-line.tsx'
import { Field, Problem } from '../ui/field.tsx'
import { Loading } from '../ui/page.tsx'
import { say } from '../ui/toast.tsx'
import { actionWords, operationLine } from './operation-words.ts'
import { type Planned, requestOf, usePlan } from './use-plan.ts'

const TYPED_FROM_JOBS = 1_000

interface OperationFormProps {
  planned: Planned
  causeId?: string
  /** Default canary and rate. */
  pace: { canary: string; rate: string } | null
  children?: ReactNode
  close: () => void
  begun?: (() => void) | undefined
}

export function OperationForm(props: OperationFormProps) {
  const plan = usePlan(props.planned)
  if (plan.data !== undefined) return <PlannedForm {...props} plan={plan.data.operation} />
  return plan.error === null ? (
    <Loading what="the number of matching jobs" />
  ) : (
    <Problem>{messageOf(plan.error)}</Problem>
  )
}

function PlannedForm(props: OperationFormProps & { plan: Operation }) {
  const { planned, plan, causeId, pace, children, close, begun } = props
  const total = totalOf([plan], 'total')
  // A lower bound cannot be what is expected.
  const expect = total.isAtLeast ? null : total.count
  const [entered, setEntered] = useState<Entered>({ canary: '0', rate: '', ...pace, reason: '', check: '' })
  const { canary, rate, reason, check } = entered
  const enter = (name: keyof Entered) => (value: string) => setEntered({ ...entered, [name]: value })
  const isLarge = useIsLarge(total)
  const begin = useBegin({ planned, close, begun })
  const refusal =
    expect === 0 ? 'No matching job can be changed.' : refusalOf(entered, isLarge ? total.count : null)
  const submit = () =>
    begin.mutate({
      ...(expect === null ? {} : { expect }),
      as_of: plan.as_of,
      reason,
      ...(canary === '0' ? {} : { canary: Number(canary) }),
      ...(rate === '' ? {} : { rate_per_s: Number(rate) }),
    })
  const line = { ...planned, causeId: causeId ?? null, expect, canary, rate }
  return (
    <form
      ref={useFirstFocus()}
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (refusal === null && !begin.isPending) submit()
      }}
    >
      <Effect plan={plan} />
      {children}
      {pace === null ? null : <CanaryField canary={canary} enter={enter('canary')} />}
      <Field
        label="Rate per second"
        type="number"
        value={rate}
        onChange={enter('rate')}
        hint={pace === null ? 'Empty: no limit.' : 'The rest is retried at this rate.'}
      />
      {pace === null ? null : <StopRule />}
      <Field
        label="Reason, recorded with the events (optional)"
        value={reason}
        onChange={enter('reason')}
        isFirst={pace === null}
      />
      {isLarge ? (
        <Field label={`Type ${total.count} to confirm`} value={check} onChange={enter('check')} />
      ) : null}
      <CopyLine line={operationLine({ ...line, reason: reasonOrDots(reason) })} />
      {begin.error === null ? null : <Problem>{messageOf(begin.error)}</Problem>}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Do nothing</Button>
        <Button
          type="submit"
          kind={planned.action === 'cancel' || planned.action === 'discard' ? 'danger' : 'main'}
          isBusy={begin.isPending}
          refusal={refusal}
        >
          {actionWords[planned.action].verb} {showTotalOf(total, 'job')}
        </Button>
      </div>
    </form>
  )
}

/** Focuses the first field, which appears after the dialog has opened. */
function useFirstFocus() {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('[data-first]')?.focus(), [])
  return form
}

/** The number must be typed. */
function useIsLarge({ count, isAtLeast }: Total): boolean {
  const config = useConfig()
  return isAtLeast || count > TYPED_FROM_JOBS || (count > 0 && config.data?.environment === 'production')
}

function Effect({ plan }: { plan: Operation }) {
  const total = totalOf([plan], 'total')
  const isOne = total.count === 1 && !total.isAtLeast
  return (
    <p role="status">
      <strong className="font-semibold">{showTotalOf(total, 'job')}</strong>{' '}
      <span className="text-soft">
        {isOne ? 'matches' : 'match'} now. {actionWords[plan.action].effect} Jobs that match later are left
        alone;{' '}
        {total.isAtLeast
          ? 'the count stopped at its limit. All matching jobs are changed; more than 100,000 are refused.'
          : 'if the count has changed, nothing happens.'}
      </span>
    </p>
  )
}

type Options = Omit<Parameters<typeof beginOperation>[0], 'action' | 'q' | 'table'>

function useBegin({ planned, close, begun }: Pick<OperationFormProps, 'planned' | 'close' | 'begun'>) {
  const go = useGo()
  const command = useCommand((options: Options) => beginOperation({ ...requestOf(planned), ...options }))
  return {
    ...command,
    mutate: (options: Options) =>
      command.mutate(options, {
        onSuccess: ({ operation }) => {
          const { verb } = actionWords[operation.action]
          say(`${verb} of ${plural(operation.total, 'job')} started.`, {
            undo: { label: 'Show', run: () => go(`/operations/${operation.id}`) },
          })
          begun?.()
          close()
        },
      }),
  }
}

interface Entered {
  canary: string
  rate: string
  reason: string
  check: string
}

function CanaryField({ canary, enter }: { canary: string; enter: (value: string) => void }) {
  return (
    <Field
      isFirst
      label="Canary"
      type="number"
      value={canary}
      onChange={enter}
      hint="Retried first; the rest follows only if they succeed. 0: no canary."
    />
  )
}

function StopRule() {
  return (
    <p className="rounded-md bg-raised px-3 py-2 text-soft">
      Stops automatically if the canary fails, too many jobs fail again, or a breaker opens. Retried jobs stay
      retried.
    </p>
  )
}

function refusalOf({ canary, rate, check }: Entered, wanted: number | null): string | null {
  if (!/^\d{1,4}$/.test(canary)) return 'The canary must be a whole number, 0 or more.'
  if (rate !== '' && !(Number(rate) >= 0.01)) return 'The rate must be at least 0.01.'
  return wanted !== null && check !== String(wanted) ? `Type ${wanted} first.` : null
}
