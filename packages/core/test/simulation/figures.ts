import type { YearFigures } from './client-year.ts'

type Totals = { years: number } & Partial<YearFigures>

/** Adds the figures of a year to those of the years before. */
export function addFigures(total: Totals, year: YearFigures): void {
  for (const [name, value] of Object.entries(year) as [keyof YearFigures, number][])
    total[name] = name === 'longestWait' ? Math.max(total[name] ?? 0, value) : (total[name] ?? 0) + value
}

export function describeFigures({ years, ...figures }: Totals): string {
  const texts = Object.entries(figures).map(
    ([name, value]) => `${name} ${Math.round(value).toLocaleString('en')}`,
  )
  return `${years} client-years: ${texts.join(', ')}`
}
