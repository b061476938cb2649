import { type ReactNode, useId } from 'react'

interface ButtonProps {
  children: ReactNode
  onClick?: () => void
  kind?: 'plain' | 'main' | 'danger' | 'ghost'
  type?: 'button' | 'submit'
  /** Why it is disabled. The button stays focusable and shows the reason. */
  refusal?: string | null
  isBusy?: boolean
  label?: string
  isPressed?: boolean
}

const LOOKS = {
  plain: 'border-edge/60 bg-panel text-ink hover:bg-raised',
  main: 'border-transparent bg-accent-fill text-white hover:brightness-110',
  danger: 'border-transparent bg-bad-fill text-white hover:brightness-110',
  ghost: 'border-transparent bg-transparent text-soft hover:bg-raised hover:text-ink',
}

const SHAPE =
  'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap transition-colors'

export function Button(props: ButtonProps) {
  const {
    children,
    onClick,
    kind = 'plain',
    type = 'button',
    refusal = null,
    isBusy = false,
    label,
    isPressed,
  } = props
  const hintId = useId()
  const isOff = refusal !== null || isBusy
  const look = isOff ? 'cursor-not-allowed border-line bg-raised text-soft' : LOOKS[kind]
  return (
    <>
      <button
        type={type}
        className={`${SHAPE} ${look}`}
        aria-disabled={isOff}
        {...(refusal === null ? {} : { title: refusal, 'aria-describedby': hintId })}
        {...(label === undefined ? {} : { 'aria-label': label })}
        {...(isPressed === undefined ? {} : { 'aria-pressed': isPressed })}
        onClick={(event) => {
          if (isOff) event.preventDefault()
          else onClick?.()
        }}
      >
        {children}
      </button>
      {refusal === null ? null : (
        <span id={hintId} className="sr-only">
          {refusal}
        </span>
      )}
    </>
  )
}
