import { drawTerminal, foldLine } from '../src/terminal.ts'
import { expect, test } from 'vitest'

const screen = { columns: 80, rows: 2, pause: 500, label: 'a "run"' }
const drawn = drawTerminal(
  [
    { at: 0, text: 'a < b & c' },
    { at: 250, text: ' 1.0 s  \u001B[32mall is well\u001B[39m, and on' },
    { at: 500, text: 'end' },
  ],
  screen,
)

test('each line scrolls to the bottom when it was printed, and the last screen stays for the pause', () => {
  expect(drawn).toContain('animation:print 1000ms step-end -500ms infinite')
  expect(drawn).toContain(
    '0.000%{transform:translateY(18px)}25.000%{transform:translateY(0px)}50.000%{transform:translateY(-18px)}',
  )
})

test('without motion the last screen is shown', () => {
  expect(drawn).toContain(
    '.lines{transform:translateY(-18px)}\n@media (prefers-reduced-motion:no-preference)',
  )
})

test('colours become spans, and markup becomes text', () => {
  expect(drawn).toContain('> 1.0 s  <tspan fill="#7fd88f">all is well</tspan>, and on</text>')
  expect(drawn).toContain('>a &lt; b &amp; c</text>')
  expect(drawn).toContain('aria-label="a &quot;run&quot;"')
})

test('a folded line keeps its colour, and as many columns as there are', () => {
  expect(foldLine(' 1.0 s  all is well', 12, 8)).toEqual([' 1.0 s all', '        is', '        well'])
  expect(foldLine('\u001B[32mis well\u001B[39m, and on', 8, 0)).toEqual([
    '\u001B[32mis well\u001B[39m,',
    '\u001B[39mand on',
  ])
})
