import { useSignal } from '@preact/signals'
import { Field } from '../../../ui/parts.tsx'

interface FormProps {
  readonly onSend: (value: object) => void
}

const places = [
  { name: 'City Hall Park', address: 'Broadway, New York', latitude: 40.7128, longitude: -74.006 },
  { name: 'Jardin des Plantes', address: 'Rue Cuvier, Paris', latitude: 48.8439, longitude: 2.3596 },
  { name: 'Uhuru Gardens', address: 'Langata Road, Nairobi', latitude: -1.3227, longitude: 36.7989 },
  { name: 'Parque Ibirapuera', address: 'São Paulo', latitude: -23.5874, longitude: -46.6576 },
]

/** A place to choose, or one by its coordinates. */
export function PlaceForm({ onSend }: FormProps) {
  const chosen = useSignal(places[0])
  const shown = chosen.value
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        onSend({
          latitude: Number(given.get('latitude')),
          longitude: Number(given.get('longitude')),
          name: String(given.get('name')),
          address: String(given.get('address')),
        })
      }}
    >
      <Field label="Place">
        <select
          onChange={(event) => {
            chosen.value = places[Number(event.currentTarget.value)]
          }}
        >
          {places.map(({ name, address }, index) => (
            <option key={name} value={index}>{`${name}, ${address}`}</option>
          ))}
        </select>
      </Field>
      <Field label="Latitude">
        <input name="latitude" type="number" step="any" min="-90" max="90" required value={shown?.latitude} />
      </Field>
      <Field label="Longitude">
        <input name="longitude" type="number" step="any" min="-180" max="180" required value={shown?.longitude} />
      </Field>
      <Field label="Name">
        <input name="name" value={shown?.name} maxLength={256} dir="auto" />
      </Field>
      <Field label="Address">
        <input name="address" value={shown?.address} maxLength={256} dir="auto" />
      </Field>
      <button type="submit" class="main">
        Send
      </button>
    </form>
  )
}

export function ContactForm({ onSend }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        const formatted_name = String(given.get('name'))
        const [first_name = ''] = formatted_name.split(' ')
        onSend({
          name: { formatted_name, first_name },
          phones: [{ phone: String(given.get('phone')), type: 'CELL' }],
        })
      }}
    >
      <Field label="Name">
        <input name="name" required value="Grace Hopper" maxLength={256} dir="auto" />
      </Field>
      <Field label="Phone">
        <input name="phone" required inputMode="tel" value="+16505550142" maxLength={40} />
      </Field>
      <button type="submit" class="main">
        Send
      </button>
    </form>
  )
}

/** The screens of a flow are drawn by the business's own service: here its fields are filled in by name. */
export function FlowForm({ onSend }: FormProps) {
  const count = useSignal(2)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        const names = given.getAll('field').map(String)
        const values = given.getAll('value').map(String)
        onSend(Object.fromEntries(names.flatMap((name, at) => (name.trim() === '' ? [] : [[name.trim(), values[at]]]))))
      }}
    >
      {Array.from({ length: count.value }, (_, index) => (
        <div key={index} class="flow-field">
          <Field label={`Field ${index + 1}`}>
            <input name="field" value={['name', 'answer'][index] ?? ''} maxLength={100} dir="auto" />
          </Field>
          <Field label="Value">
            <input name="value" maxLength={1000} dir="auto" />
          </Field>
        </div>
      ))}
      <button
        type="button"
        class="small"
        onClick={() => {
          count.value += 1
        }}
      >
        Add a field
      </button>
      <button type="submit" class="main">
        Send
      </button>
    </form>
  )
}
