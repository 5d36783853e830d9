import type { Booking } from "../domain/booking.ts";
import type { Room } from "../domain/room.ts";

/** Rooms and bookings, in memory. */
export class Store {
  private readonly byName: Map<string, Room>;
  private readonly byId = new Map<string, Booking>();

  constructor(rooms: Room[]) {
    this.byName = new Map(rooms.map((room) => [room.name, room]));
  }

  rooms(): Room[] {
    return [...this.byName.values()];
  }

  room(name: string): Room | undefined {
    return this.byName.get(name);
  }

  bookings(room: string): Booking[] {
    return [...this.byId.values()].filter((booking) => booking.room === room);
  }

  booking(id: string): Booking | undefined {
    return this.byId.get(id);
  }

  add(booking: Booking): void {
    this.byId.set(booking.id, booking);
  }

  remove(id: string): void {
    this.byId.delete(id);
  }
}
