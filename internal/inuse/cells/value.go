package cells

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Type tags: the first byte of a cell's plaintext. They are part of the
// format; a tag is never reused.
const (
	tagInt64   = 0x01 // 8 bytes, two's complement, big-endian
	tagFloat64 = 0x02 // 8 bytes, IEEE 754, big-endian
	tagBool    = 0x03 // 1 byte, 0 or 1
	tagString  = 0x04 // the bytes
	tagBytes   = 0x05 // the bytes
	tagTime    = 0x06 // 8 bytes Unix seconds, 4 bytes nanoseconds, 4 bytes zone
	tagUint64  = 0x07 // 8 bytes, big-endian
	tagFloat32 = 0x08 // 4 bytes, IEEE 754, big-endian
)

// zoneUTC stands for UTC in the zone field of a time; every other value is the
// zone's offset east of UTC in seconds, two's complement.
const zoneUTC = 0x80000000

// MaxValue is the size in bytes of the longest string or []byte a cell holds.
const MaxValue = 1<<30 - 1

// valueSize returns how many bytes appendValue writes for v. It fails with
// ErrUnknownType; nil is not a value here (see Sealer.Append).
func valueSize(v driver.Value) (int, error) {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []byte:
		n = len(v)
	case int64, float64, uint64:
		n = 8
	case time.Time:
		n = 16
	case bool:
		n = 1
	case float32:
		n = 4
	default:
		return 0, fmt.Errorf("%w: %T", ErrUnknownType, v)
	}
	if n > MaxValue {
		return 0, fmt.Errorf("%w: %T of %d bytes", ErrUnknownType, v, n)
	}
	return 1 + n, nil
}

// appendValue appends the tag and the bytes of v, a type valueSize accepts, to
// dst. Numbers and times have one size each, so a cell's length says nothing
// about their value.
func appendValue(dst []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case string:
		return append(append(dst, tagString), v...)
	case []byte:
		return append(append(dst, tagBytes), v...)
	case int64:
		return binary.BigEndian.AppendUint64(append(dst, tagInt64), uint64(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, tagFloat64), math.Float64bits(v))
	case time.Time:
		return appendTime(append(dst, tagTime), v)
	case bool:
		if v {
			return append(dst, tagBool, 1)
		}
		return append(dst, tagBool, 0)
	case uint64: // go-sql-driver/mysql, unsigned columns
		return binary.BigEndian.AppendUint64(append(dst, tagUint64), v)
	case float32: // go-sql-driver/mysql, FLOAT columns
		return binary.BigEndian.AppendUint32(append(dst, tagFloat32), math.Float32bits(v))
	}
	panic("cells: internal error: value of a type valueSize refuses")
}

// parseValue is the inverse of appendValue. A []byte result is a view of b;
// every other result is independent of b. Anything appendValue cannot have
// written gives ErrTampered.
func parseValue(b []byte) (driver.Value, error) {
	if len(b) == 0 {
		return nil, ErrTampered
	}
	tag, b := b[0], b[1:]
	switch {
	case tag == tagString:
		return string(b), nil
	case tag == tagInt64 && len(b) == 8:
		return int64(binary.BigEndian.Uint64(b)), nil
	case tag == tagFloat64 && len(b) == 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	case tag == tagBytes:
		return b[:len(b):len(b)], nil
	case tag == tagTime && len(b) == 16:
		return parseTime(b)
	case tag == tagBool && len(b) == 1 && b[0] <= 1:
		return b[0] == 1, nil
	case tag == tagUint64 && len(b) == 8:
		return binary.BigEndian.Uint64(b), nil
	case tag == tagFloat32 && len(b) == 4:
		return math.Float32frombits(binary.BigEndian.Uint32(b)), nil
	}
	return nil, ErrTampered
}

// appendTime keeps the instant to the nanosecond and the zone's offset. The
// zone's name and a monotonic reading are not kept, as in time.MarshalBinary.
func appendTime(dst []byte, t time.Time) []byte {
	zone := uint32(zoneUTC)
	if t.Location() != time.UTC {
		_, offset := t.Zone()
		zone = uint32(int32(offset))
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.Unix()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(t.Nanosecond()))
	return binary.BigEndian.AppendUint32(dst, zone)
}

func parseTime(b []byte) (driver.Value, error) {
	sec := int64(binary.BigEndian.Uint64(b))
	nsec := binary.BigEndian.Uint32(b[8:])
	zone := binary.BigEndian.Uint32(b[12:])
	if nsec >= 1e9 {
		return nil, ErrTampered
	}
	t := time.Unix(sec, int64(nsec))
	if zone == zoneUTC {
		return t.UTC(), nil
	}
	offset := int(int32(zone))
	if offset <= -48*3600 || offset >= 48*3600 {
		return nil, ErrTampered
	}
	if _, local := t.Zone(); local == offset {
		return t, nil // as time.Parse does: the local zone where it fits
	}
	return t.In(time.FixedZone("", offset)), nil
}
