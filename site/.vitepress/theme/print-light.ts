// Paper is white: a dark page prints as a light one.

export function printLight(): void {
  const { classList } = document.documentElement
  let dark = false
  window.addEventListener('beforeprint', () => {
    dark = classList.contains('dark')
    classList.remove('dark')
  })
  window.addEventListener('afterprint', () => void classList.toggle('dark', dark))
}
