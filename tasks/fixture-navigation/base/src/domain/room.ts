export interface Room {
  name: string;
  seats: number;
  /** Longest booking, in minutes. */
  longest: number;
}
