/** A made-up invoice. The same index gives the same invoice in every sandbox. */
export interface BusinessRecord {
  id: string
  name: string
  customer: { id: string; name: string; city: string }
  status: string
  currency: string
  /** In hundredths of the currency's unit. */
  amount: number
  issuedOn: string
  dueOn: string
  note: string
}

const customers = ['Alder & Sons', 'Birch Freight', 'Cedar Mills', 'Dogwood Foods', 'Elm Street Tools']
const cities = ['Aarhus', 'Bilbao', 'Cork', 'Dresden', 'Eindhoven', 'Florence', 'Ghent']
const statuses = ['draft', 'open', 'paid', 'overdue', 'cancelled']
const currencies = ['EUR', 'USD', 'GBP', 'DKK']
const firstDay = Date.UTC(2024, 0, 1)

const pick = (words: readonly string[], number: number): string => words[number % words.length]!
const day = (number: number): string => new Date(firstDay + number * 86_400_000).toISOString().slice(0, 10)

/** Spreads neighbouring indexes over the whole range of 32 bits (the multiplier of Knuth's hash). */
const scatter = (index: number): number => Math.imul(index + 1, 2_654_435_761) >>> 0

export function recordAt(index: number): BusinessRecord {
  const number = String(index + 1).padStart(7, '0')
  const random = scatter(index)
  const customer = pick(customers, random >>> 3)
  const issued = random % 700
  return {
    id: `INV-${number}`,
    name: `Invoice ${number} for ${customer}`,
    customer: { id: `C-${random % 9_000}`, name: customer, city: pick(cities, random >>> 5) },
    status: pick(statuses, random >>> 7),
    currency: pick(currencies, random >>> 9),
    amount: (random >>> 4) % 2_000_000,
    issuedOn: day(issued),
    dueOn: day(issued + 30),
    note: `Made up: no business was done. Goods left the warehouse in ${pick(cities, random >>> 11)}.`,
  }
}

/** Returns the index of the record with this id, or `undefined` if no record can have it. */
export function recordIndex(id: string): number | undefined {
  if (!/^INV-\d{7,}$/.test(id)) return undefined
  const index = Number(id.slice('INV-'.length)) - 1
  return index >= 0 && recordAt(index).id === id ? index : undefined
}
