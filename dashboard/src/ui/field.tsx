import type { ReactNode } from 'react'

interface FieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'number' | 'password'
  hint?: ReactNode
  placeholder?: string
  isFirst?: boolean
}

export function Field(props: FieldProps) {
  const { label, value, onChange, type = 'text', hint, placeholder, isFirst = false } = props
  return (
    <label className="flex flex-col gap-1">
      <span className="font-medium">{label}</span>
      <input
        type={type}
        value={value}
        data-first={isFirst ? '' : undefined}
        maxLength={500}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
        className="min-h-9 w-full rounded-md border border-edge bg-ground px-3 placeholder:text-soft"
      />
      {hint === undefined ? null : <span className="text-xs text-soft">{hint}</span>}
    </label>
  )
}

interface ChoiceFieldProps {
  label: string
  value: string
  options: readonly { value: string; name: string }[]
  onChange: (value: string) => void
  isLabelHidden?: boolean
}

export function ChoiceField({ label, value, options, onChange, isLabelHidden = false }: ChoiceFieldProps) {
  return (
    <label className="flex flex-col gap-1">
      <span className={isLabelHidden ? 'sr-only' : 'font-medium'}>{label}</span>
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="min-h-8 rounded-md border border-edge/60 bg-panel px-2 text-ink"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  )
}

export function Problem({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-md bg-bad-wash px-3 py-2 text-bad">
      {children}
    </p>
  )
}
