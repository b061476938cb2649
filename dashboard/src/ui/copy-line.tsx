import { Button } from './button.tsx'
import { say } from './toast.tsx'

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say('Copied.')
  } catch {
    say('The browser does not allow copying.', { isBad: true })
  }
}

/** A line to copy, usually the equivalent shell command. */
export function CopyLine({ line, label = 'Copy as CLI' }: { line: string; label?: string }) {
  return (
    <div className="flex items-start gap-2 rounded-md border border-line bg-raised py-1 pr-1 pl-2.5">
      <code className="grow py-1.5 font-mono text-xs wrap-anywhere">{line}</code>
      <Button kind="ghost" label={label} onClick={() => void copyText(line)}>
        Copy
      </Button>
    </div>
  )
}
