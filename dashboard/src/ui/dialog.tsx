// The browser's modal dialog: it traps focus, closes with Escape and restores focus.
import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
  /** A drawer on the right, over the whole height. */
  isDrawer?: boolean
}

export function Dialog({ title, onClose, children, isDrawer = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    // The browser would focus the first control, the close button.
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const shape = isDrawer
    ? 'my-0 mr-0 ml-auto h-dvh max-h-none w-full max-w-lg rounded-l-xl'
    : 'm-auto w-full max-w-md rounded-xl'
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      className={`border border-line bg-panel p-0 text-ink shadow-2xl ${shape}`}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <div className="flex items-center justify-between gap-4 border-b border-line px-5 py-3">
        <h2 id={titleId} className="text-base font-semibold">
          {title}
        </h2>
        <button
          type="button"
          aria-label="Close"
          className="size-8 rounded-md text-soft hover:bg-raised"
          onClick={onClose}
        >
          ✕
        </button>
      </div>
      <div className="px-5 py-4">{children}</div>
    </dialog>
  )
}
