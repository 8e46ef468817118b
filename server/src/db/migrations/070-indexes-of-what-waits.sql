-- Those of 069 take their place. The release before counts what waits without an index as long as it runs beside this one.
DROP INDEX deliveries_in_order;
DROP INDEX deliveries_oldest_waiting;
