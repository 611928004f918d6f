/* Made by kube/zone_table.sh of version 2025b of the tz database: not to be edited. */
#include "kube/zone.h"

const struct zone_row zone_rows[] = {
    {{0, 120, {3, 5, 0, 60}, {10, 5, 0, 180}},
     "Antarctica/Troll"},
    {{60, 60, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Casablanca "
     "Africa/El_Aaiun "
     "Etc/GMT-1"},
    {{120, 120, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT-2"},
    {{210, 210, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Tehran "
     "Iran"},
    {{180, 180, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Antarctica/Syowa "
     "Asia/Aden "
     "Asia/Amman "
     "Asia/Baghdad "
     "Asia/Bahrain "
     "Asia/Damascus "
     "Asia/Istanbul "
     "Asia/Kuwait "
     "Asia/Qatar "
     "Asia/Riyadh "
     "Etc/GMT-3 "
     "Europe/Istanbul "
     "Europe/Minsk "
     "Turkey"},
    {{270, 270, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Kabul"},
    {{240, 240, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Baku "
     "Asia/Dubai "
     "Asia/Muscat "
     "Asia/Tbilisi "
     "Asia/Yerevan "
     "Etc/GMT-4 "
     "Europe/Astrakhan "
     "Europe/Samara "
     "Europe/Saratov "
     "Europe/Ulyanovsk "
     "Indian/Mahe "
     "Indian/Mauritius "
     "Indian/Reunion"},
    {{330, 330, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Colombo"},
    {{345, 345, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Kathmandu "
     "Asia/Katmandu"},
    {{300, 300, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Antarctica/Mawson "
     "Antarctica/Vostok "
     "Asia/Almaty "
     "Asia/Aqtau "
     "Asia/Aqtobe "
     "Asia/Ashgabat "
     "Asia/Ashkhabad "
     "Asia/Atyrau "
     "Asia/Dushanbe "
     "Asia/Oral "
     "Asia/Qostanay "
     "Asia/Qyzylorda "
     "Asia/Samarkand "
     "Asia/Tashkent "
     "Asia/Yekaterinburg "
     "Etc/GMT-5 "
     "Indian/Kerguelen "
     "Indian/Maldives"},
    {{390, 390, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Rangoon "
     "Asia/Yangon "
     "Indian/Cocos"},
    {{360, 360, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Bishkek "
     "Asia/Dacca "
     "Asia/Dhaka "
     "Asia/Kashgar "
     "Asia/Omsk "
     "Asia/Thimbu "
     "Asia/Thimphu "
     "Asia/Urumqi "
     "Etc/GMT-6 "
     "Indian/Chagos"},
    {{420, 420, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Antarctica/Davis "
     "Asia/Bangkok "
     "Asia/Barnaul "
     "Asia/Ho_Chi_Minh "
     "Asia/Hovd "
     "Asia/Krasnoyarsk "
     "Asia/Novokuznetsk "
     "Asia/Novosibirsk "
     "Asia/Phnom_Penh "
     "Asia/Saigon "
     "Asia/Tomsk "
     "Asia/Vientiane "
     "Etc/GMT-7 "
     "Indian/Christmas"},
    {{525, 525, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Australia/Eucla"},
    {{480, 480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Antarctica/Casey "
     "Asia/Brunei "
     "Asia/Choibalsan "
     "Asia/Irkutsk "
     "Asia/Kuala_Lumpur "
     "Asia/Kuching "
     "Asia/Singapore "
     "Asia/Ulaanbaatar "
     "Asia/Ulan_Bator "
     "Etc/GMT-8 "
     "Singapore"},
    {{540, 540, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Chita "
     "Asia/Dili "
     "Asia/Khandyga "
     "Asia/Yakutsk "
     "Etc/GMT-9 "
     "Pacific/Palau"},
    {{630, 660, {10, 1, 0, 120}, {4, 1, 0, 120}},
     "Australia/LHI "
     "Australia/Lord_Howe"},
    {{600, 600, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Antarctica/DumontDUrville "
     "Asia/Ust-Nera "
     "Asia/Vladivostok "
     "Etc/GMT-10 "
     "Pacific/Chuuk "
     "Pacific/Port_Moresby "
     "Pacific/Truk "
     "Pacific/Yap"},
    {{660, 660, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Magadan "
     "Asia/Sakhalin "
     "Asia/Srednekolymsk "
     "Etc/GMT-11 "
     "Pacific/Bougainville "
     "Pacific/Efate "
     "Pacific/Guadalcanal "
     "Pacific/Kosrae "
     "Pacific/Noumea "
     "Pacific/Pohnpei "
     "Pacific/Ponape"},
    {{660, 720, {10, 1, 0, 120}, {4, 1, 0, 180}},
     "Pacific/Norfolk"},
    {{765, 825, {9, 5, 0, 165}, {4, 1, 0, 225}},
     "NZ-CHAT "
     "Pacific/Chatham"},
    {{720, 720, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Anadyr "
     "Asia/Kamchatka "
     "Etc/GMT-12 "
     "Kwajalein "
     "Pacific/Fiji "
     "Pacific/Funafuti "
     "Pacific/Kwajalein "
     "Pacific/Majuro "
     "Pacific/Nauru "
     "Pacific/Tarawa "
     "Pacific/Wake "
     "Pacific/Wallis"},
    {{780, 780, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT-13 "
     "Pacific/Apia "
     "Pacific/Enderbury "
     "Pacific/Fakaofo "
     "Pacific/Kanton "
     "Pacific/Tongatapu"},
    {{840, 840, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT-14 "
     "Pacific/Kiritimati"},
    {{-60, -60, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Atlantic/Cape_Verde "
     "Etc/GMT+1"},
    {{-60, 0, {3, 5, 0, 0}, {10, 5, 0, 60}},
     "Atlantic/Azores"},
    {{-120, -120, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Noronha "
     "Atlantic/South_Georgia "
     "Brazil/DeNoronha "
     "Etc/GMT+2"},
    {{-120, -60, {3, 5, 0, -60}, {10, 5, 0, 0}},
     "America/Godthab "
     "America/Nuuk "
     "America/Scoresbysund"},
    {{-180, -180, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Araguaina "
     "America/Argentina/Buenos_Aires "
     "America/Argentina/Catamarca "
     "America/Argentina/ComodRivadavia "
     "America/Argentina/Cordoba "
     "America/Argentina/Jujuy "
     "America/Argentina/La_Rioja "
     "America/Argentina/Mendoza "
     "America/Argentina/Rio_Gallegos "
     "America/Argentina/Salta "
     "America/Argentina/San_Juan "
     "America/Argentina/San_Luis "
     "America/Argentina/Tucuman "
     "America/Argentina/Ushuaia "
     "America/Asuncion "
     "America/Bahia "
     "America/Belem "
     "America/Buenos_Aires "
     "America/Catamarca "
     "America/Cayenne "
     "America/Cordoba "
     "America/Coyhaique "
     "America/Fortaleza "
     "America/Jujuy "
     "America/Maceio "
     "America/Mendoza "
     "America/Montevideo "
     "America/Paramaribo "
     "America/Punta_Arenas "
     "America/Recife "
     "America/Rosario "
     "America/Santarem "
     "America/Sao_Paulo "
     "Antarctica/Palmer "
     "Antarctica/Rothera "
     "Atlantic/Stanley "
     "Brazil/East "
     "Etc/GMT+3"},
    {{-180, -120, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Miquelon"},
    {{-240, -240, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Boa_Vista "
     "America/Campo_Grande "
     "America/Caracas "
     "America/Cuiaba "
     "America/Guyana "
     "America/La_Paz "
     "America/Manaus "
     "America/Porto_Velho "
     "Brazil/West "
     "Etc/GMT+4"},
    {{-240, -180, {9, 1, 6, 1440}, {4, 1, 6, 1440}},
     "America/Santiago "
     "Chile/Continental"},
    {{-300, -300, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Bogota "
     "America/Eirunepe "
     "America/Guayaquil "
     "America/Lima "
     "America/Porto_Acre "
     "America/Rio_Branco "
     "Brazil/Acre "
     "Etc/GMT+5"},
    {{-360, -360, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+6 "
     "Pacific/Galapagos"},
    {{-360, -300, {9, 1, 6, 1320}, {4, 1, 6, 1320}},
     "Chile/EasterIsland "
     "Pacific/Easter"},
    {{-420, -420, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+7"},
    {{-480, -480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+8 "
     "Pacific/Pitcairn"},
    {{-570, -570, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Pacific/Marquesas"},
    {{-540, -540, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+9 "
     "Pacific/Gambier"},
    {{-600, -600, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+10 "
     "Pacific/Rarotonga "
     "Pacific/Tahiti"},
    {{-660, -660, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+11 "
     "Pacific/Niue"},
    {{-720, -720, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/GMT+12"},
    {{570, 570, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Australia/Darwin "
     "Australia/North"},
    {{570, 630, {10, 1, 0, 120}, {4, 1, 0, 180}},
     "Australia/Adelaide "
     "Australia/Broken_Hill "
     "Australia/South "
     "Australia/Yancowinna"},
    {{600, 600, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Australia/Brisbane "
     "Australia/Lindeman "
     "Australia/Queensland"},
    {{600, 660, {10, 1, 0, 120}, {4, 1, 0, 180}},
     "Antarctica/Macquarie "
     "Australia/ACT "
     "Australia/Canberra "
     "Australia/Currie "
     "Australia/Hobart "
     "Australia/Melbourne "
     "Australia/NSW "
     "Australia/Sydney "
     "Australia/Tasmania "
     "Australia/Victoria"},
    {{-540, -480, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Anchorage "
     "America/Juneau "
     "America/Metlakatla "
     "America/Nome "
     "America/Sitka "
     "America/Yakutat "
     "US/Alaska"},
    {{-240, -240, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Anguilla "
     "America/Antigua "
     "America/Aruba "
     "America/Barbados "
     "America/Blanc-Sablon "
     "America/Curacao "
     "America/Dominica "
     "America/Grenada "
     "America/Guadeloupe "
     "America/Kralendijk "
     "America/Lower_Princes "
     "America/Marigot "
     "America/Martinique "
     "America/Montserrat "
     "America/Port_of_Spain "
     "America/Puerto_Rico "
     "America/Santo_Domingo "
     "America/St_Barthelemy "
     "America/St_Kitts "
     "America/St_Lucia "
     "America/St_Thomas "
     "America/St_Vincent "
     "America/Tortola "
     "America/Virgin"},
    {{-240, -180, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Glace_Bay "
     "America/Goose_Bay "
     "America/Halifax "
     "America/Moncton "
     "America/Thule "
     "Atlantic/Bermuda "
     "Canada/Atlantic"},
    {{480, 480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Australia/Perth "
     "Australia/West"},
    {{120, 120, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Blantyre "
     "Africa/Bujumbura "
     "Africa/Gaborone "
     "Africa/Harare "
     "Africa/Juba "
     "Africa/Khartoum "
     "Africa/Kigali "
     "Africa/Lubumbashi "
     "Africa/Lusaka "
     "Africa/Maputo "
     "Africa/Windhoek"},
    {{60, 60, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Algiers "
     "Africa/Tunis"},
    {{60, 120, {3, 5, 0, 120}, {10, 5, 0, 180}},
     "Africa/Ceuta "
     "Arctic/Longyearbyen "
     "Atlantic/Jan_Mayen "
     "CET "
     "Europe/Amsterdam "
     "Europe/Andorra "
     "Europe/Belgrade "
     "Europe/Berlin "
     "Europe/Bratislava "
     "Europe/Brussels "
     "Europe/Budapest "
     "Europe/Busingen "
     "Europe/Copenhagen "
     "Europe/Gibraltar "
     "Europe/Ljubljana "
     "Europe/Luxembourg "
     "Europe/Madrid "
     "Europe/Malta "
     "Europe/Monaco "
     "Europe/Oslo "
     "Europe/Paris "
     "Europe/Podgorica "
     "Europe/Prague "
     "Europe/Rome "
     "Europe/San_Marino "
     "Europe/Sarajevo "
     "Europe/Skopje "
     "Europe/Stockholm "
     "Europe/Tirane "
     "Europe/Vaduz "
     "Europe/Vatican "
     "Europe/Vienna "
     "Europe/Warsaw "
     "Europe/Zagreb "
     "Europe/Zurich "
     "Poland"},
    {{480, 480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Chongqing "
     "Asia/Chungking "
     "Asia/Harbin "
     "Asia/Macao "
     "Asia/Macau "
     "Asia/Shanghai "
     "Asia/Taipei "
     "PRC "
     "ROC"},
    {{-300, -240, {3, 2, 0, 0}, {11, 1, 0, 60}},
     "America/Havana "
     "Cuba"},
    {{-360, -360, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Bahia_Banderas "
     "America/Belize "
     "America/Chihuahua "
     "America/Costa_Rica "
     "America/El_Salvador "
     "America/Guatemala "
     "America/Managua "
     "America/Merida "
     "America/Mexico_City "
     "America/Monterrey "
     "America/Regina "
     "America/Swift_Current "
     "America/Tegucigalpa "
     "Canada/Saskatchewan "
     "Mexico/General"},
    {{-360, -300, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Chicago "
     "America/Indiana/Knox "
     "America/Indiana/Tell_City "
     "America/Knox_IN "
     "America/Matamoros "
     "America/Menominee "
     "America/North_Dakota/Beulah "
     "America/North_Dakota/Center "
     "America/North_Dakota/New_Salem "
     "America/Ojinaga "
     "America/Rainy_River "
     "America/Rankin_Inlet "
     "America/Resolute "
     "America/Winnipeg "
     "CST6CDT "
     "Canada/Central "
     "US/Central "
     "US/Indiana-Starke"},
    {{600, 600, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Pacific/Guam "
     "Pacific/Saipan"},
    {{180, 180, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Addis_Ababa "
     "Africa/Asmara "
     "Africa/Asmera "
     "Africa/Dar_es_Salaam "
     "Africa/Djibouti "
     "Africa/Kampala "
     "Africa/Mogadishu "
     "Africa/Nairobi "
     "Indian/Antananarivo "
     "Indian/Comoro "
     "Indian/Mayotte"},
    {{120, 120, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Tripoli "
     "Europe/Kaliningrad "
     "Libya"},
    {{120, 180, {3, 4, 4, 3000}, {10, 4, 4, 3000}},
     "Asia/Gaza "
     "Asia/Hebron"},
    {{120, 180, {3, 5, 0, 120}, {10, 5, 0, 180}},
     "Europe/Chisinau "
     "Europe/Tiraspol"},
    {{120, 180, {3, 5, 0, 0}, {10, 5, 0, 0}},
     "Asia/Beirut"},
    {{120, 180, {3, 5, 0, 180}, {10, 5, 0, 240}},
     "Asia/Famagusta "
     "Asia/Nicosia "
     "EET "
     "Europe/Athens "
     "Europe/Bucharest "
     "Europe/Helsinki "
     "Europe/Kiev "
     "Europe/Kyiv "
     "Europe/Mariehamn "
     "Europe/Nicosia "
     "Europe/Riga "
     "Europe/Sofia "
     "Europe/Tallinn "
     "Europe/Uzhgorod "
     "Europe/Vilnius "
     "Europe/Zaporozhye"},
    {{120, 180, {4, 5, 5, 0}, {10, 5, 4, 1440}},
     "Africa/Cairo "
     "Egypt"},
    {{-300, -300, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Atikokan "
     "America/Cancun "
     "America/Cayman "
     "America/Coral_Harbour "
     "America/Jamaica "
     "America/Panama "
     "EST "
     "Jamaica"},
    {{-300, -240, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Detroit "
     "America/Fort_Wayne "
     "America/Grand_Turk "
     "America/Indiana/Indianapolis "
     "America/Indiana/Marengo "
     "America/Indiana/Petersburg "
     "America/Indiana/Vevay "
     "America/Indiana/Vincennes "
     "America/Indiana/Winamac "
     "America/Indianapolis "
     "America/Iqaluit "
     "America/Kentucky/Louisville "
     "America/Kentucky/Monticello "
     "America/Louisville "
     "America/Montreal "
     "America/Nassau "
     "America/New_York "
     "America/Nipigon "
     "America/Pangnirtung "
     "America/Port-au-Prince "
     "America/Thunder_Bay "
     "America/Toronto "
     "Canada/Eastern "
     "EST5EDT "
     "US/East-Indiana "
     "US/Eastern "
     "US/Michigan"},
    {{0, 0, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Abidjan "
     "Africa/Accra "
     "Africa/Bamako "
     "Africa/Banjul "
     "Africa/Bissau "
     "Africa/Conakry "
     "Africa/Dakar "
     "Africa/Freetown "
     "Africa/Lome "
     "Africa/Monrovia "
     "Africa/Nouakchott "
     "Africa/Ouagadougou "
     "Africa/Sao_Tome "
     "Africa/Timbuktu "
     "America/Danmarkshavn "
     "Atlantic/Reykjavik "
     "Atlantic/St_Helena "
     "Etc/GMT "
     "Etc/GMT+0 "
     "Etc/GMT-0 "
     "Etc/GMT0 "
     "Etc/Greenwich "
     "GMT "
     "GMT+0 "
     "GMT-0 "
     "GMT0 "
     "Greenwich "
     "Iceland"},
    {{0, 60, {3, 5, 0, 60}, {10, 5, 0, 120}},
     "Europe/Belfast "
     "Europe/Guernsey "
     "Europe/Isle_of_Man "
     "Europe/Jersey "
     "Europe/London "
     "GB "
     "GB-Eire"},
    {{480, 480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Hong_Kong "
     "Hongkong"},
    {{-600, -600, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "HST "
     "Pacific/Honolulu "
     "Pacific/Johnston "
     "US/Hawaii"},
    {{-600, -540, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Adak "
     "America/Atka "
     "US/Aleutian"},
    {{60, 0, {10, 5, 0, 120}, {3, 5, 0, 60}},
     "Eire "
     "Europe/Dublin"},
    {{120, 180, {3, 4, 4, 1560}, {10, 5, 0, 120}},
     "Asia/Jerusalem "
     "Asia/Tel_Aviv "
     "Israel"},
    {{330, 330, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Calcutta "
     "Asia/Kolkata"},
    {{540, 540, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Tokyo "
     "Japan "
     "Asia/Pyongyang "
     "Asia/Seoul "
     "ROK"},
    {{60, 120, {3, 5, 0, 120}, {10, 5, 0, 180}},
     "MET"},
    {{180, 180, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Europe/Kirov "
     "Europe/Moscow "
     "Europe/Simferopol "
     "Europe/Volgograd "
     "W-SU"},
    {{-420, -420, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "America/Creston "
     "America/Dawson "
     "America/Dawson_Creek "
     "America/Fort_Nelson "
     "America/Hermosillo "
     "America/Mazatlan "
     "America/Phoenix "
     "America/Whitehorse "
     "Canada/Yukon "
     "MST "
     "Mexico/BajaSur "
     "US/Arizona"},
    {{-420, -360, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Boise "
     "America/Cambridge_Bay "
     "America/Ciudad_Juarez "
     "America/Denver "
     "America/Edmonton "
     "America/Inuvik "
     "America/Shiprock "
     "America/Yellowknife "
     "Canada/Mountain "
     "MST7MDT "
     "Navajo "
     "US/Mountain"},
    {{-210, -150, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/St_Johns "
     "Canada/Newfoundland"},
    {{720, 780, {9, 5, 0, 120}, {4, 1, 0, 180}},
     "Antarctica/McMurdo "
     "Antarctica/South_Pole "
     "NZ "
     "Pacific/Auckland"},
    {{300, 300, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Karachi"},
    {{480, 480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Manila"},
    {{-480, -420, {3, 2, 0, 120}, {11, 1, 0, 120}},
     "America/Ensenada "
     "America/Los_Angeles "
     "America/Santa_Isabel "
     "America/Tijuana "
     "America/Vancouver "
     "Canada/Pacific "
     "Mexico/BajaNorte "
     "PST8PDT "
     "US/Pacific"},
    {{120, 120, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Johannesburg "
     "Africa/Maseru "
     "Africa/Mbabane"},
    {{-660, -660, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Pacific/Midway "
     "Pacific/Pago_Pago "
     "Pacific/Samoa "
     "US/Samoa"},
    {{0, 0, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Etc/UCT "
     "Etc/UTC "
     "Etc/Universal "
     "Etc/Zulu "
     "UCT "
     "UTC "
     "Universal "
     "Zulu"},
    {{60, 60, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Africa/Bangui "
     "Africa/Brazzaville "
     "Africa/Douala "
     "Africa/Kinshasa "
     "Africa/Lagos "
     "Africa/Libreville "
     "Africa/Luanda "
     "Africa/Malabo "
     "Africa/Ndjamena "
     "Africa/Niamey "
     "Africa/Porto-Novo"},
    {{0, 60, {3, 5, 0, 60}, {10, 5, 0, 120}},
     "Atlantic/Canary "
     "Atlantic/Faeroe "
     "Atlantic/Faroe "
     "Atlantic/Madeira "
     "Europe/Lisbon "
     "Portugal "
     "WET"},
    {{420, 420, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Jakarta "
     "Asia/Pontianak"},
    {{540, 540, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Jayapura"},
    {{480, 480, {0, 0, 0, 0}, {0, 0, 0, 0}},
     "Asia/Makassar "
     "Asia/Ujung_Pandang"},
};
const size_t zone_row_count = COUNT_OF(zone_rows);
